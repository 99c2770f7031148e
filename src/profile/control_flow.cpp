#include "profile/control_flow.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "profile/instruction_kinds.h"

namespace kw {
namespace {

struct FlowBlock {
  std::size_t first = 0, last = 0;  // instructions, both included
  std::vector<std::size_t> next, before;
};

std::vector<FlowBlock> flow_blocks(const Function& function, std::string_view isa) {
  const auto& code = function.instructions;
  std::unordered_map<std::uint64_t, std::size_t> at;
  for (std::size_t i = 0; i < code.size(); ++i) at[code[i].address] = i;
  std::vector<InstructionKind> kinds;
  std::vector<bool> begins(code.size() + 1, false);
  begins[0] = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    kinds.push_back(kind_of(code[i], isa));
    if (kinds[i].jump || kinds[i].returns) begins[i + 1] = true;
    if (kinds[i].jump && code[i].target)
      if (const auto target = at.find(*code[i].target); target != at.end()) begins[target->second] = true;
  }
  std::vector<FlowBlock> blocks;
  std::vector<std::size_t> block_of(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (begins[i]) blocks.push_back({i, i, {}, {}});
    blocks.back().last = i;
    block_of[i] = blocks.size() - 1;
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t last = blocks[b].last;
    const auto& kind = kinds[last];
    const auto join = [&](std::size_t other) {
      blocks[b].next.push_back(other);
      blocks[other].before.push_back(b);
    };
    if (kind.jump && code[last].target)
      if (const auto target = at.find(*code[last].target); target != at.end()) join(block_of[target->second]);
    // Padding behind a jump is never run; led on, it would look like another way into the loop that it aligns.
    bool is_padding = blocks[b].before.empty() && b > 0;
    for (std::size_t i = blocks[b].first; i <= last; ++i) is_padding = is_padding && kinds[i].padding;
    const bool falls_through = !is_padding && !kind.returns && (!kind.jump || kind.conditional);
    if (falls_through && b + 1 < blocks.size()) join(b + 1);
  }
  return blocks;
}

// Immediate dominators after Cooper, Harvey and Kennedy. Blocks that only a jump table reaches hang on a root beside the entry.
class Dominators {
 public:
  explicit Dominators(const std::vector<FlowBlock>& blocks) : number_(blocks.size(), kNone), above_(blocks.size() + 1, kNone) {
    const std::size_t root = blocks.size();
    std::vector<bool> is_entry(blocks.size(), false);
    std::vector<std::size_t> order;  // postorder
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (number_[b] != kNone) continue;
      is_entry[b] = true;
      walk(blocks, b, order);
    }
    // Later entries were finished later: reverse postorder over all of them has the root in front.
    rank_.assign(blocks.size() + 1, 0);
    rank_[root] = order.size();
    for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
    above_[root] = root;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = order.rbegin(); it != order.rend(); ++it) {
        std::size_t meet = is_entry[*it] ? root : kNone;
        for (const std::size_t before : blocks[*it].before)
          if (above_[before] != kNone) meet = meet == kNone ? before : common(meet, before);
        if (meet != above_[*it]) {
          above_[*it] = meet;
          changed = true;
        }
      }
    }
  }

  [[nodiscard]] bool dominates(std::size_t upper, std::size_t lower) const {
    while (rank_[lower] < rank_[upper]) lower = above_[lower];
    return lower == upper;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void walk(const std::vector<FlowBlock>& blocks, std::size_t entry, std::vector<std::size_t>& order) {
    std::vector<std::pair<std::size_t, std::size_t>> open{{entry, 0}};
    number_[entry] = 1;
    while (!open.empty()) {
      auto& [block, next] = open.back();
      if (next < blocks[block].next.size()) {
        const std::size_t successor = blocks[block].next[next++];
        if (number_[successor] == kNone) {
          number_[successor] = 1;
          open.emplace_back(successor, 0);
        }
      } else {
        order.push_back(block);
        open.pop_back();
      }
    }
  }

  [[nodiscard]] std::size_t common(std::size_t a, std::size_t b) const {
    while (a != b) {
      while (rank_[a] < rank_[b]) a = above_[a];
      while (rank_[b] < rank_[a]) b = above_[b];
    }
    return a;
  }

  std::vector<std::size_t> number_;
  std::vector<std::size_t> above_;
  std::vector<std::size_t> rank_;
};

}  // namespace

std::vector<FlowLoop> natural_loops(const Function& function, std::string_view isa) {
  if (function.instructions.empty()) return {};
  const std::vector<FlowBlock> blocks = flow_blocks(function, isa);
  const Dominators dominators(blocks);
  std::map<std::size_t, std::vector<bool>> bodies;  // by the block that the loop begins with
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const std::size_t header : blocks[b].next) {
      if (!dominators.dominates(header, b)) continue;
      auto& body = bodies.try_emplace(header, blocks.size(), false).first->second;
      body[header] = true;
      std::vector<std::size_t> open{b};
      while (!open.empty()) {
        const std::size_t block = open.back();
        open.pop_back();
        if (body[block]) continue;
        body[block] = true;
        open.insert(open.end(), blocks[block].before.begin(), blocks[block].before.end());
      }
    }
  std::vector<FlowLoop> loops;
  std::vector<std::size_t> headers, sizes;
  for (const auto& [header, body] : bodies) {
    FlowLoop loop;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (body[b])
        for (std::size_t i = blocks[b].first; i <= blocks[b].last; ++i) loop.instructions.push_back(i);
    headers.push_back(header);
    sizes.push_back(loop.instructions.size());
    loops.push_back(std::move(loop));
  }
  for (std::size_t l = 0; l < loops.size(); ++l)
    for (std::size_t o = 0; o < loops.size(); ++o) {
      if (o == l || !bodies.at(headers[o])[headers[l]]) continue;
      ++loops[l].depth;
      loops[o].innermost = false;
      if (loops[l].parent < 0 || sizes[o] < sizes[static_cast<std::size_t>(loops[l].parent)]) loops[l].parent = static_cast<int>(o);
    }
  return loops;
}

}  // namespace kw
