#include "verify/tied_positions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "verify/elements.h"

namespace kw {
namespace {

template <typename T>
Result<std::span<const T>> part_of(const SafetensorsFile& file, const std::string& name, DType dtype) {
  KW_TRY(const NamedTensor tensor, file.at(name));
  if (tensor.dtype != dtype)
    return internal_error(fmt::format("{}: '{}' has another type than expected", file.path().string(), name),
                          "remove that folder: it is only a cache");
  return std::span<const T>(reinterpret_cast<const T*>(tensor.bytes.data()), static_cast<std::size_t>(tensor.numel()));
}

}  // namespace

bool TiedPositions::alike(std::int64_t element, std::int64_t k, std::int64_t r) const {
  const std::int64_t line = lines[static_cast<std::size_t>(element)];
  if (line < 0 || k < 0 || k >= length || r < 0 || r >= length) return false;
  const double* of_line = values.data() + line * length;
  return of_line[k] == of_line[r] || std::fabs(of_line[k] - of_line[r]) <= room[static_cast<std::size_t>(line)];
}

std::vector<std::int64_t> TiedPositions::repeated(const void* kernel, DType dtype) const {
  std::vector<std::int64_t> again;
  if (!distinct) return again;
  std::vector<bool> taken(values.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    const std::int64_t position = element_as_integer(kernel, dtype, element);
    if (lines[i] < 0 || position < 0 || position >= length) continue;
    const auto place = static_cast<std::size_t>(lines[i] * length + position);
    if (taken[place]) again.push_back(element);
    taken[place] = true;
  }
  return again;
}

Result<std::optional<TiedPositions>> tied_positions(const TensorSet& set, const TensorSpec& output) {
  if (!set.ties || set.ties->find(output.name + ".values") == nullptr) return std::optional<TiedPositions>();
  TiedPositions ties;
  KW_TRY(ties.values, part_of<double>(*set.ties, output.name + ".values", DType::f64));
  KW_TRY(ties.room, part_of<double>(*set.ties, output.name + ".room", DType::f64));
  KW_TRY(ties.lines, part_of<std::int64_t>(*set.ties, output.name + ".lines", DType::i64));
  KW_TRY(const auto distinct, part_of<std::uint8_t>(*set.ties, output.name + ".distinct", DType::u8));
  const auto rows = static_cast<std::int64_t>(ties.room.size());
  ties.length = rows > 0 ? static_cast<std::int64_t>(ties.values.size()) / rows : 0;
  ties.distinct = !distinct.empty() && distinct[0] != 0;
  const bool fits = static_cast<std::int64_t>(ties.lines.size()) == output.numel() &&
                    rows * ties.length == static_cast<std::int64_t>(ties.values.size()) &&
                    std::all_of(ties.lines.begin(), ties.lines.end(), [&](std::int64_t line) { return line >= -1 && line < rows; });
  if (!fits)
    return internal_error(fmt::format("{}: the ties of '{}' do not fit the output", set.ties->path().string(), output.name),
                          "remove that folder: it is only a cache");
  return std::optional(ties);
}

}  // namespace kw
