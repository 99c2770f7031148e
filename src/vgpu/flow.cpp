#include "vgpu/flow.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

struct FlowBlock {
  int first = 0, last = 0;
  std::vector<int> successors;
  bool leaves = false;  // ends the function, whatever is in it
};

bool ends_function(const ParsedInstruction& instruction) {
  return instruction.opcode == "ret" || instruction.opcode == "exit" || instruction.opcode == "trap";
}

// Lanes have nothing to meet for where they only end: the others may be at a barrier, which waits for those that have not ended.
bool only_ends(const ParsedFunction& function, const FlowBlock& block) {
  return block.leaves && ends_function(function.code[static_cast<std::size_t>(block.first)]);
}

std::vector<int> branch_targets_of(const ParsedFunction& function, const ParsedInstruction& instruction) {
  std::vector<int> targets;
  if (instruction.opcode == "bra" && !instruction.operands.empty()) {
    targets.push_back(static_cast<int>(instruction.operands[0].integer));
  } else if (instruction.opcode == "brx" && instruction.operands.size() > 1) {
    const auto found = function.branch_targets.find(instruction.operands[1].text);
    if (found != function.branch_targets.end()) targets = found->second;
  }
  return targets;
}

std::vector<FlowBlock> flow_blocks(const ParsedFunction& function, std::vector<int>& block_of) {
  const int size = static_cast<int>(function.code.size());
  std::vector<char> leader(static_cast<std::size_t>(size) + 1, 0);
  leader[0] = 1;
  for (int i = 0; i < size; ++i) {
    const ParsedInstruction& instruction = function.code[static_cast<std::size_t>(i)];
    for (int target : branch_targets_of(function, instruction)) {
      if (target >= 0 && target <= size) leader[static_cast<std::size_t>(target)] = 1;
    }
    if (instruction.opcode == "bra" || instruction.opcode == "brx" || ends_function(instruction))
      leader[static_cast<std::size_t>(i) + 1] = 1;
  }
  std::vector<FlowBlock> blocks;
  block_of.assign(static_cast<std::size_t>(size) + 1, -1);
  for (int i = 0; i < size; ++i) {
    if (leader[static_cast<std::size_t>(i)] != 0) blocks.push_back({i, i, {}, false});
    blocks.back().last = i;
    block_of[static_cast<std::size_t>(i)] = static_cast<int>(blocks.size()) - 1;
  }
  for (FlowBlock& block : blocks) {
    const ParsedInstruction& last = function.code[static_cast<std::size_t>(block.last)];
    const bool guarded = last.guard >= 0;
    for (int target : branch_targets_of(function, last)) {
      if (target >= 0 && target < size) block.successors.push_back(block_of[static_cast<std::size_t>(target)]);
    }
    const bool jumps = last.opcode == "bra" || last.opcode == "brx" || ends_function(last);
    if ((!jumps || guarded) && block.last + 1 < size)
      block.successors.push_back(block_of[static_cast<std::size_t>(block.last) + 1]);
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()), block.successors.end());
    block.leaves = block.successors.empty();
  }
  return blocks;
}

// Blocks from which the end (index blocks.size()) can be reached.
std::vector<char> reaches_end(const std::vector<std::vector<int>>& predecessors, int end) {
  std::vector<char> reached(predecessors.size(), 0);
  std::vector<int> work{end};
  reached[static_cast<std::size_t>(end)] = 1;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    for (int before : predecessors[static_cast<std::size_t>(at)]) {
      if (reached[static_cast<std::size_t>(before)] == 0) {
        reached[static_cast<std::size_t>(before)] = 1;
        work.push_back(before);
      }
    }
  }
  return reached;
}

std::vector<std::vector<int>> reversed(const std::vector<std::vector<int>>& successors) {
  std::vector<std::vector<int>> predecessors(successors.size());
  for (std::size_t from = 0; from < successors.size(); ++from) {
    for (int to : successors[from]) predecessors[static_cast<std::size_t>(to)].push_back(static_cast<int>(from));
  }
  return predecessors;
}

// Immediate post-dominators by iteration over the reverse graph; -1 for blocks that never end.
std::vector<int> post_dominators(const std::vector<std::vector<int>>& successors, int end) {
  const std::vector<std::vector<int>> predecessors = reversed(successors);
  std::vector<int> order;  // postorder of the reverse graph from the end
  std::vector<int> number(successors.size(), -1);
  std::vector<std::pair<int, std::size_t>> stack{{end, 0}};
  std::vector<char> seen(successors.size(), 0);
  seen[static_cast<std::size_t>(end)] = 1;
  while (!stack.empty()) {
    auto& [at, next] = stack.back();
    const auto& before = predecessors[static_cast<std::size_t>(at)];
    if (next < before.size()) {
      const int child = before[next++];
      if (seen[static_cast<std::size_t>(child)] == 0) {
        seen[static_cast<std::size_t>(child)] = 1;
        stack.emplace_back(child, 0);
      }
    } else {
      number[static_cast<std::size_t>(at)] = static_cast<int>(order.size());
      order.push_back(at);
      stack.pop_back();
    }
  }
  std::vector<int> immediate(successors.size(), -1);
  immediate[static_cast<std::size_t>(end)] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      if (*at == end) continue;
      int common = -1;
      for (int next : successors[static_cast<std::size_t>(*at)]) {
        if (immediate[static_cast<std::size_t>(next)] < 0) continue;
        if (common < 0) {
          common = next;
          continue;
        }
        int other = next;
        while (common != other) {
          while (number[static_cast<std::size_t>(common)] < number[static_cast<std::size_t>(other)])
            common = immediate[static_cast<std::size_t>(common)];
          while (number[static_cast<std::size_t>(other)] < number[static_cast<std::size_t>(common)])
            other = immediate[static_cast<std::size_t>(other)];
        }
      }
      if (common != immediate[static_cast<std::size_t>(*at)]) {
        immediate[static_cast<std::size_t>(*at)] = common;
        changed = true;
      }
    }
  }
  return immediate;
}

}  // namespace

std::vector<int> meeting_points(const ParsedFunction& function) {
  std::vector<int> meets(function.code.size(), -1);
  if (function.code.empty()) return meets;
  std::vector<int> block_of;
  const std::vector<FlowBlock> blocks = flow_blocks(function, block_of);
  const int end = static_cast<int>(blocks.size());
  std::vector<std::vector<int>> whole(blocks.size() + 1), pruned(blocks.size() + 1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    whole[i] = blocks[i].successors;
    for (int next : whole[i]) {
      if (!blocks[static_cast<std::size_t>(next)].leaves) pruned[i].push_back(next);
    }
    if (pruned[i].empty()) pruned[i] = whole[i];
    if (whole[i].empty()) whole[i] = pruned[i] = {end};
  }
  // A loop that only ends through a leaving block needs that block.
  const std::vector<char> ends = reaches_end(reversed(pruned), end);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (ends[i] == 0) pruned[i] = whole[i];
  }
  const std::vector<int> immediate = post_dominators(pruned, end);
  const std::vector<int> strict = post_dominators(whole, end);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ParsedInstruction& last = function.code[static_cast<std::size_t>(blocks[i].last)];
    const bool branches = (last.opcode == "bra" && last.guard >= 0) || last.opcode == "brx";
    // Where all paths meet before the end, they meet there; early returns are left out only where nothing else is common.
    const auto is_place = [&](int block) {
      return block >= 0 && block < end && !only_ends(function, blocks[static_cast<std::size_t>(block)]);
    };
    const int meet = is_place(strict[i]) ? strict[i] : immediate[i];
    if (branches && is_place(meet)) meets[static_cast<std::size_t>(blocks[i].last)] = blocks[static_cast<std::size_t>(meet)].first;
  }
  return meets;
}

}  // namespace kw::vgpu
