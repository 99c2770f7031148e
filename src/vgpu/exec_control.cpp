// Branches, joins, calls, ends.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "vgpu/device_calls.h"
#include "vgpu/exec.h"
#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

// The join for lanes that diverge here; a loop whose lanes leave one after the other has one join for all of them.
Join* join_for(Warp& warp, std::uint32_t meet) {
  if (meet == kNowhere) return warp.join;
  if (warp.join != nullptr && warp.join->pc == meet && warp.join->frame == warp.frame) return warp.join;
  return warp.new_join(meet, warp.active, warp.frame);
}

void add_path(Warp& warp, std::uint32_t pc, std::uint32_t mask, Join* join) {
  Path path;
  path.pc = pc;
  path.mask = mask;
  path.frame = warp.frame;
  path.join = join;
  warp.paths.push_back(path);
}

void copy_params(Warp& warp, std::uint32_t lanes, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    std::byte* stack = warp.local.data() + static_cast<std::size_t>(std::countr_zero(rest)) * warp.local_bytes;
    std::memmove(stack + to, stack + from, bytes);
  }
}

bool call_function(Warp& warp, const Instruction& instruction, const CallSite& site, const Function& target, std::uint32_t mask) {
  const std::uint32_t base = warp.frame->local_base + warp.frame->function->frame_bytes;
  if (base + target.frame_bytes > warp.local_bytes) {
    warp.launch->report("out_of_bounds", warp, instruction, std::countr_zero(mask),
                        fmt::format("calls are nested too deeply: '{}' needs {} bytes of stack beyond the {} that a thread has",
                                    target.name, base + target.frame_bytes - warp.local_bytes, warp.local_bytes),
                        "stack", true);
    return false;
  }
  // The lanes that do not call wait behind the call.
  Join* back = warp.new_join(warp.pc, warp.active, warp.frame);
  back->arrived = warp.active & ~mask;
  Frame* frame = warp.new_frame(target, warp.frame);
  back->callee = frame;
  back->call = &site;
  const std::size_t results = target.parsed->results.size();
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    copy_params(warp, mask, frame->local_base + target.variable_offsets[results + i], warp.frame->local_base + site.arguments[i],
                std::min(site.argument_sizes[i], static_cast<std::uint32_t>(target.parsed->params[i].bytes)));
  }
  Path inside;
  inside.pc = target.first;
  inside.mask = mask;
  inside.frame = frame;
  inside.join = back;
  warp.enter(inside);
  return true;
}

}  // namespace

bool exec_join(Warp& warp, const Instruction& /*instruction*/, std::uint32_t /*mask*/) {
  const std::uint32_t here = warp.pc - 1;
  while (warp.join != nullptr && warp.join->pc == here && warp.join->frame == warp.frame) {
    Join* join = warp.join;
    join->arrived |= warp.active;
    if (join->arrived != join->expected) {
      warp.active = 0;
      return false;
    }
    warp.active = join->expected;
    warp.join = join->parent;
    warp.drop_join(join);
  }
  return true;
}

bool exec_bra(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t stay = warp.active & ~mask;
  if (warp.launch->options.counters) {
    LineCounters& counters = warp.worker->slots[instruction.slot];
    ++counters.branches;
    if (stay != 0) ++counters.divergent_branches;
  }
  const bool backward = instruction.target < warp.pc;
  if (stay != 0) {
    Join* join = join_for(warp, instruction.meet);
    warp.join = join;
    add_path(warp, warp.pc, stay, join);
    warp.active = mask;
  }
  warp.pc = instruction.target;
  return !backward || warp.backward_branch();
}

bool exec_brx(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto* index = warp.as<std::uint32_t>(instruction.a);
  const std::uint32_t* targets = warp.launch->module->lists.data() + instruction.target;
  const std::uint32_t all = warp.active;
  Join* join = nullptr;
  std::uint32_t rest = mask, ways = 0, chosen = 0, chosen_mask = 0;
  while (rest != 0) {
    const int lane = std::countr_zero(rest);
    if (index[lane] >= instruction.list_size) {
      warp.launch->report("out_of_bounds", warp, instruction, lane,
                          fmt::format("a branch table of {} labels is indexed by {}", instruction.list_size, index[lane]),
                          "branch table", true);
      return false;
    }
    std::uint32_t same = 0;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (index[other] == index[lane]) same |= 1u << other;
    }
    rest &= ~same;
    if (ways++ == 0) {
      chosen = targets[index[lane]];
      chosen_mask = same;
      if (same == all) break;
      join = join_for(warp, instruction.meet);
    } else {
      add_path(warp, targets[index[lane]], same, join);
    }
  }
  if (chosen_mask != all) {
    if ((all & ~mask) != 0) add_path(warp, warp.pc, all & ~mask, join);
    warp.join = join;
    warp.active = chosen_mask;
  }
  if (warp.launch->options.counters) {
    LineCounters& counters = warp.worker->slots[instruction.slot];
    ++counters.branches;
    if (chosen_mask != all) ++counters.divergent_branches;
  }
  const bool backward = chosen < warp.pc;
  warp.pc = chosen;
  return !backward || warp.backward_branch();
}

bool exec_call(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const CallSite& site = warp.launch->module->calls[instruction.aux];
  if (site.builtin != Builtin::none) return call_builtin(warp, instruction, site, mask);
  if (site.target != nullptr) return call_function(warp, instruction, site, *site.target, mask);
  // By address: lanes may call different functions. Those that call what the first one calls go now; the others come back to this
  // instruction.
  const auto* address = warp.as<std::uint64_t>(instruction.a);
  const int lane = std::countr_zero(mask);
  const std::uint64_t wanted = address[lane];
  const std::uint64_t number = (wanted & ~kTagMask) - 1;
  const auto& functions = warp.launch->module->functions;
  if ((wanted & kTagMask) != kFunctionTag || number >= functions.size() || !functions[number].parsed->defined ||
      functions[number].parsed->params.size() != site.arguments.size()) {
    warp.launch->report("out_of_bounds", warp, instruction, lane,
                        fmt::format("0x{:x} is called and is no function with these parameters", wanted), {}, true);
    return false;
  }
  std::uint32_t same = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int other = std::countr_zero(rest);
    if (address[other] == wanted) same |= 1u << other;
  }
  if (same != mask) {
    // All meet behind the call.
    Join* join = warp.new_join(warp.pc, warp.active, warp.frame);
    join->arrived = warp.active & ~mask;
    add_path(warp, warp.pc - 1, mask & ~same, join);
    warp.join = join;
    warp.active = same;
  }
  return call_function(warp, instruction, site, functions[number], same);
}

bool exec_ret(Warp& warp, const Instruction& /*instruction*/, std::uint32_t mask) {
  Frame* callee = warp.frame;
  const std::uint32_t stay = warp.active & ~mask;
  // Joins inside the function do not wait for lanes that return.
  Join* back = warp.join;
  while (back != nullptr && back->callee != callee) {
    Join* parent = back->parent;
    warp.leave_join(back, mask);
    back = parent;
  }
  if (stay != 0) add_path(warp, warp.pc, stay, warp.join);
  warp.active = 0;
  if (back == nullptr) {
    warp.lanes_left(mask);
    return false;
  }
  const CallSite& site = *back->call;
  for (std::size_t i = 0; i < site.results.size() && i < callee->function->parsed->results.size(); ++i) {
    copy_params(warp, mask, back->frame->local_base + site.results[i], callee->local_base + callee->function->variable_offsets[i],
                std::min(site.result_sizes[i], static_cast<std::uint32_t>(callee->function->parsed->results[i].bytes)));
  }
  back->arrived |= mask;
  Join* parent = back->parent;
  const std::uint32_t at = back->pc;
  Frame* frame = back->frame;
  warp.settle(back);
  // Lanes that called different functions by address meet at the same place again.
  for (;;) {
    if (warp.paths.empty()) break;
    Path& last = warp.paths.back();
    if (last.pc != at || last.frame != frame || last.join != parent || parent == nullptr || parent->pc != at ||
        parent->frame != frame || parent->call != nullptr || last.state != Path::State::ready) {
      break;
    }
    const std::uint32_t came = last.mask;
    warp.paths.pop_back();
    parent->arrived |= came;
    Join* next = parent->parent;
    warp.settle(parent);
    parent = next;
  }
  return false;
}

bool exec_exit(Warp& warp, const Instruction& /*instruction*/, std::uint32_t mask) {
  complete_async(warp, mask, 0);
  warp.active &= ~mask;
  warp.lanes_left(mask);
  return warp.active != 0;
}

bool exec_trap(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  warp.launch->report("trap", warp, instruction, std::countr_zero(mask), "the kernel stopped itself with a trap", {}, true);
  return false;
}

bool exec_unsupported(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  warp.launch->report("unsupported", warp, instruction, std::countr_zero(mask), "an instruction that is not supported was reached",
                      {}, true);
  return false;
}

}  // namespace kw::vgpu
