#include "verify/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

constexpr std::size_t kNamed = 5;

std::string line_about(const WatchedCall& watched, bool movement, std::string_view what) {
  double seconds = 0;
  std::size_t kinds = 0;
  std::vector<std::string> named;
  for (const auto& each : watched.operators) {
    if (each.movement != movement) continue;
    seconds += each.seconds;
    if (++kinds > kNamed) continue;
    const std::string line = each.line > 0 ? fmt::format(", line {}", each.line) : "";
    named.push_back(fmt::format("{} ({:.0f}%{})", each.name, 100 * each.seconds / std::max(watched.seconds, 1e-9), line));
  }
  if (kinds == 0) return "";
  if (kinds > kNamed) named.push_back(fmt::format("{} more", kinds - kNamed));
  return fmt::format("{} {:.0f}% of the time of forward(): {}", what, 100 * seconds / std::max(watched.seconds, 1e-9),
                     fmt::join(named, ", "));
}

}  // namespace

std::vector<std::string> notes_on_operators(const WatchedCall& watched) {
  std::vector<std::string> notes;
  for (const auto& [movement, what] :
       {std::pair{false, "PyTorch's own operators did the work of"}, std::pair{true, "PyTorch's copies took"}})
    if (std::string line = line_about(watched, movement, what); !line.empty()) notes.push_back(std::move(line));
  return notes;
}

}  // namespace kw
