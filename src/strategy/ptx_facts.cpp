#include "strategy/ptx_facts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

namespace kw {
namespace {

constexpr long long kWarp = 32;

struct Instruction {
  std::string_view operation;              // mad.lo.s32
  std::vector<std::string_view> operands;  // %r1 or 5 or %tid.x; of [%rd1+4] and {%f1, %f2} the words within
  std::string_view address;                // the first word in brackets; empty: there is none
  bool is_at(std::string_view prefix) const { return operation.starts_with(prefix); }
};

struct Body {
  bool is_kernel = false;
  std::optional<long long> threads;  // of a block, at the most, where the PTX says so
  std::vector<Instruction> instructions;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '%' || c == '_' || c == '$' || c == '.' || c == '-';
}

Instruction instruction_of(std::string_view line) {
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
  Instruction read;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && !is_word(line[at])) ++at;
    const std::size_t start = at;
    while (at < line.size() && is_word(line[at])) ++at;
    const std::string_view word = line.substr(start, at - start);
    if (word.empty()) continue;
    if (read.operation.empty()) {
      read.operation = word;
      continue;
    }
    read.operands.push_back(word);
    if (read.address.empty() && start > 0 && line[start - 1] == '[') read.address = word;
  }
  return read;
}

std::optional<long long> integer(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// .maxntid 32, 1, 1
long long product_of(std::string_view line) {
  long long product = 1;
  for (const std::string_view word : instruction_of(line).operands) product *= integer(word).value_or(1);
  return product;
}

std::vector<Body> bodies_of(const std::vector<std::string>& lines) {
  std::vector<Body> bodies;
  for (const std::string& line : lines) {
    if (line.find(".entry ") != std::string::npos || line.find(".func ") != std::string::npos)
      bodies.push_back({line.find(".entry ") != std::string::npos, std::nullopt, {}});
    if (bodies.empty()) continue;
    if (line.starts_with(".maxntid") || line.starts_with(".reqntid")) bodies.back().threads = product_of(line);
    if (std::isalpha(static_cast<unsigned char>(line.front())) != 0 || line.front() == '@')
      bodies.back().instructions.push_back(instruction_of(line));
  }
  return bodies;
}

// Which registers hang on the thread's number, and which on the number of its warp.
class ThreadOrigin {
 public:
  explicit ThreadOrigin(const Body& body) {
    for (bool changed = true; changed;) {  // values go round in loops
      changed = false;
      for (const Instruction& each : body.instructions) changed |= follow(each);
    }
  }
  [[nodiscard]] bool by_warp(std::string_view operand) const { return (origin(operand) & kOfWarp) != 0; }

 private:
  static constexpr unsigned kOfThread = 1, kOfWarp = 2;

  [[nodiscard]] unsigned origin(std::string_view operand) const {
    if (operand == "%tid.x") return kOfThread;
    if (operand == "%tid.y" || operand == "%tid.z" || operand == "%warpid") return kOfThread | kOfWarp;
    const auto known = known_.find(operand);
    return known == known_.end() ? 0 : known->second;
  }

  // Leaves out where in its warp a thread is: tid >> 5, tid / 32, tid & ~31.
  static bool forgets_lane(const Instruction& each) {
    const auto last = integer(each.operands.back());
    if (each.is_at("shr.")) return last && *last >= 5 && *last <= 10;
    if (each.is_at("div.")) return !last || *last % kWarp == 0;  // by warpSize, which is no number
    if (each.is_at("and.")) return last && *last % kWarp == 0;
    if (each.is_at("bfe.") && each.operands.size() == 4) return integer(each.operands[2]).value_or(0) >= 5;
    return false;
  }

  bool follow(const Instruction& each) {
    // What is read from memory, or from other lanes, hangs on other things.
    const bool passes_on = !each.is_at("ld.") && !each.is_at("st.") && !each.is_at("shfl.") && !each.is_at("bra");
    if (!passes_on || each.operands.size() < 2) return false;
    unsigned origins = 0;
    for (std::size_t i = 1; i < each.operands.size(); ++i) origins |= origin(each.operands[i]);
    if ((origins & kOfThread) != 0 && forgets_lane(each)) origins |= kOfWarp;
    unsigned& target = known_[each.operands.front()];
    const bool is_news = (origins & ~target) != 0;
    target |= origins;
    return is_news;
  }

  std::map<std::string_view, unsigned> known_;
};

bool shuffles(const Body& body) {
  return std::any_of(body.instructions.begin(), body.instructions.end(),
                     [](const Instruction& each) { return each.is_at("shfl.sync") || each.is_at("redux.sync"); });
}

bool exchanges_between_warps(const Body& body) {
  const bool one_warp = body.threads && *body.threads <= kWarp;
  return std::any_of(body.instructions.begin(), body.instructions.end(), [&](const Instruction& each) {
    const bool barrier = each.is_at("bar.sync") || each.is_at("bar.red") || each.is_at("bar.arrive") || each.is_at("barrier.") ||
                         each.is_at("mbarrier.");
    return (barrier && !one_warp) || each.is_at("atom.") || each.is_at("red.");
  });
}

bool stays_in_warps(const Body& body) {
  if (exchanges_between_warps(body)) return false;
  const ThreadOrigin origin(body);
  bool loads = false, stores = false;
  for (const Instruction& each : body.instructions) {
    if (each.is_at("ld.global")) loads |= origin.by_warp(each.address);
    if (each.is_at("st.global")) stores |= origin.by_warp(each.address);
  }
  return loads || !stores;
}

}  // namespace

std::vector<std::string> ptx_facts(const std::vector<std::string>& lines) {
  std::vector<Body> bodies = bodies_of(lines);
  // What a function does that is not inlined, its callers may do.
  std::vector<Instruction> called;
  for (const Body& body : bodies)
    if (!body.is_kernel) called.insert(called.end(), body.instructions.begin(), body.instructions.end());
  bool any = false, all = true;
  for (Body& body : bodies) {
    if (!body.is_kernel) continue;
    body.instructions.insert(body.instructions.end(), called.begin(), called.end());
    if (!shuffles(body)) continue;
    any = true;
    all &= stays_in_warps(body);
  }
  std::vector<std::string> facts;
  if (any && all) facts.emplace_back("rows_stay_in_warps");
  return facts;
}

}  // namespace kw
