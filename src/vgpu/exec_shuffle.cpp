// What lanes of a warp do with each other: shuffles, votes, matches, reductions.
#include <fmt/format.h>

#include <bit>

#include "vgpu/exec.h"
#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

// Lanes of the member mask may come on different paths: the path waits here until all of them are at this instruction, and then the
// first executes it for all. `together` is the mask to execute with; false: wait.
bool gather(Warp& warp, const Instruction& instruction, std::uint32_t mask, std::uint32_t& together) {
  together = mask;
  if (instruction.d == kNoOperand) return true;
  // Each lane has a mask of its own: groups of lanes may come together.
  const auto* masks = warp.as<std::uint32_t>(instruction.d);
  std::uint32_t members = 0, unnamed = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    members |= masks[lane];
    if (((masks[lane] >> lane) & 1u) == 0) unnamed |= 1u << lane;
  }
  if (unnamed != 0) {
    const int lane = std::countr_zero(unnamed);
    warp.launch->report(
        "divergent_barrier", warp, instruction, lane,
        fmt::format("lanes 0x{:08x} execute an instruction whose member mask 0x{:08x} does not name them", unnamed, masks[lane]),
        {}, false);
  }
  if ((members & warp.live & ~mask) == 0) return true;
  const std::uint32_t here = warp.pc - 1;
  std::uint32_t there = mask;
  const auto waits_with_them = [&](const Path& path) {
    return path.state == Path::State::warp_sync && path.pc == here && path.frame == warp.frame && (path.sync_mask & members) != 0;
  };
  for (std::uint32_t before = 0; before != members;) {
    before = members;
    for (const Path& path : warp.paths) {
      if (!waits_with_them(path)) continue;
      there |= path.mask;
      members |= path.sync_mask;
    }
  }
  const std::uint32_t wanted = members & warp.live;
  if ((wanted & ~there) != 0) {
    // Lanes whose guard does not hold here go on.
    warp.keep_only(mask);
    warp.pc = here;
    warp.save_path(Path::State::warp_sync);
    warp.paths.back().sync_mask = members;
    return false;
  }
  // All are there: the others continue behind this instruction, which is executed for them now.
  for (Path& path : warp.paths) {
    if (waits_with_them(path)) {
      path.state = Path::State::ready;
      ++path.pc;
    }
  }
  together = there;
  return true;
}

void write_word(Warp& warp, OperandRef ref, std::uint32_t mask, std::uint32_t value) {
  auto* to = warp.as<std::uint32_t>(ref);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) to[std::countr_zero(rest)] = value;
}

void write_predicate(Warp& warp, OperandRef ref, std::uint32_t mask, std::uint32_t value) {
  auto* to = warp.as<std::uint32_t>(ref);
  *to = (*to & ~mask) | (value & mask);
}

// Lanes of `mask` by their member mask: without divergence one group.
std::uint32_t group_of(const Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (instruction.d == kNoOperand) return mask;
  const auto* members = warp.as<std::uint32_t>(instruction.d);
  const std::uint32_t name = members[std::countr_zero(mask)];
  return (mask & name) != 0 ? mask & name : mask;
}

}  // namespace

bool exec_warp_sync(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t members = warp.as<std::uint32_t>(instruction.a)[std::countr_zero(mask)];
  if ((members & warp.live & ~mask) == 0) return true;
  warp.keep_only(mask);
  warp.save_path(Path::State::warp_sync);
  warp.paths.back().sync_mask = members;
  warp.release_sync();
  return false;
}

bool exec_shfl(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  std::uint32_t together = 0;
  if (!gather(warp, instruction, mask, together)) return false;
  std::uint32_t source[kLanes];
  const auto* a = warp.as<std::uint32_t>(instruction.a);
  const auto* b = warp.as<std::uint32_t>(instruction.b);
  const auto* c = warp.as<std::uint32_t>(instruction.c);
  for (int i = 0; i < kLanes; ++i) source[i] = a[i];
  std::uint32_t result[kLanes];
  std::uint32_t valid = 0, absent = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t by = b[lane] & 31u, clamp = c[lane] & 31u, segment = (c[lane] >> 8) & 31u;
    const int last = static_cast<int>((static_cast<std::uint32_t>(lane) & segment) | (clamp & ~segment));
    const int first = static_cast<int>(static_cast<std::uint32_t>(lane) & segment);
    int from = first | static_cast<int>(by & ~segment);  // of shfl.idx
    if (instruction.aux == kShflUp) from = lane - static_cast<int>(by);
    if (instruction.aux == kShflDown) from = lane + static_cast<int>(by);
    if (instruction.aux == kShflBfly) from = static_cast<int>(static_cast<std::uint32_t>(lane) ^ by);
    const bool in_range = instruction.aux == kShflUp ? from >= last : from <= last;
    if (!in_range) from = lane;
    if (in_range) valid |= 1u << lane;
    if (((together >> lane) & 1u) != 0 && ((together >> from) & 1u) == 0) absent |= 1u << lane;
    result[lane] = source[from];
  }
  if (absent != 0 && warp.launch->options.checks) {
    warp.launch->report("uninitialised", warp, instruction, std::countr_zero(absent),
                        fmt::format("lanes 0x{:08x} take a value from lanes that do not take part in the shuffle", absent),
                        "registers", false);
  }
  auto* to = warp.as<std::uint32_t>(instruction.dst);
  for (std::uint32_t rest = together; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    to[lane] = result[lane];
  }
  if (instruction.dst2 != kNoOperand) write_predicate(warp, instruction.dst2, together, valid);
  return true;
}

bool exec_vote(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  std::uint32_t together = 0;
  if (!gather(warp, instruction, mask, together)) return false;
  const std::uint32_t votes = warp.predicate(instruction.a);
  for (std::uint32_t rest = together; rest != 0;) {
    const std::uint32_t group = group_of(warp, instruction, rest);
    const std::uint32_t yes = votes & group;
    switch (instruction.aux) {
      case kVoteAll:
        write_predicate(warp, instruction.dst, group, yes == group ? ~0u : 0u);
        break;
      case kVoteAny:
        write_predicate(warp, instruction.dst, group, yes != 0 ? ~0u : 0u);
        break;
      case kVoteUni:
        write_predicate(warp, instruction.dst, group, yes == group || yes == 0 ? ~0u : 0u);
        break;
      default:
        write_word(warp, instruction.dst, group, yes);
        break;
    }
    rest &= ~group;
  }
  return true;
}

// aux 1: match.all.
bool exec_match(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  std::uint32_t together = 0;
  if (!gather(warp, instruction, mask, together)) return false;
  std::uint64_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    values[i] = instruction.bytes == 8 ? warp.as<std::uint64_t>(instruction.a)[i] : warp.as<std::uint32_t>(instruction.a)[i];
  }
  auto* to = warp.as<std::uint32_t>(instruction.dst);
  for (std::uint32_t left = together; left != 0;) {
    const std::uint32_t group = group_of(warp, instruction, left);
    bool all_same = true;
    std::uint32_t same_as[kLanes] = {};
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      for (std::uint32_t others = group; others != 0; others &= others - 1) {
        const int other = std::countr_zero(others);
        if (values[other] == values[lane]) same_as[lane] |= 1u << other;
      }
      all_same = all_same && same_as[lane] == group;
    }
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      to[lane] = instruction.aux == 0 ? same_as[lane] : all_same ? group : 0;
    }
    if (instruction.dst2 != kNoOperand) write_predicate(warp, instruction.dst2, group, all_same ? ~0u : 0u);
    left &= ~group;
  }
  return true;
}

bool exec_redux(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  std::uint32_t together = 0;
  if (!gather(warp, instruction, mask, together)) return false;
  for (std::uint32_t rest = together; rest != 0;) {
    const std::uint32_t group = group_of(warp, instruction, rest);
    const auto* values = warp.as<std::uint32_t>(instruction.a);
    std::uint64_t sum = values[std::countr_zero(group)];
    for (std::uint32_t others = group & (group - 1); others != 0; others &= others - 1) {
      sum = instruction.atomic(sum, values[std::countr_zero(others)]);
    }
    write_word(warp, instruction.dst, group, static_cast<std::uint32_t>(sum));
    rest &= ~group;
  }
  return true;
}

bool exec_activemask(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  write_word(warp, instruction.dst, mask, mask);
  return true;
}

bool exec_elect(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  std::uint32_t together = 0;
  if (!gather(warp, instruction, mask, together)) return false;
  for (std::uint32_t left = together; left != 0;) {
    const std::uint32_t group = group_of(warp, instruction, left);
    const int leader = std::countr_zero(group);
    write_word(warp, instruction.dst, group, static_cast<std::uint32_t>(leader));
    write_predicate(warp, instruction.dst2, group, 1u << leader);
    left &= ~group;
  }
  return true;
}

}  // namespace kw::vgpu
