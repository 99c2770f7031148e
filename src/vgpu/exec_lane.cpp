// Instructions that compute: all lanes are computed, those of the mask are written.
#include <bit>
#include <chrono>
#include <cstring>

#include "vgpu/exec.h"
#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffffu;

void write_lanes(void* dst, const void* src, int bytes, std::uint32_t mask) {
  if (bytes == 4) {
    lane_moves().blend32(dst, src, mask);
  } else if (bytes == 8) {
    lane_moves().blend64(dst, src, mask);
  } else {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      static_cast<Lane128*>(dst)[i] = static_cast<const Lane128*>(src)[i];
    }
  }
}

const void* place_or_null(const Warp& warp, OperandRef ref) { return ref == kNoOperand ? nullptr : warp.at(ref); }

}  // namespace

bool exec_lane(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  LaneExtra extra;
  extra.d = place_or_null(warp, instruction.d);
  extra.immediate = static_cast<std::uint32_t>(instruction.imm);
  const void* a = place_or_null(warp, instruction.a);
  const void* b = place_or_null(warp, instruction.b);
  const void* c = place_or_null(warp, instruction.c);
  std::byte* dst = warp.at(instruction.dst);
  std::uint32_t carry = warp.carry;
  extra.carry = &carry;
  if (instruction.dst_bytes == 0) {
    std::uint32_t result = 0, second = 0;
    if (instruction.dst2 != kNoOperand) extra.dst2 = &second;
    instruction.lane(&result, a, b, c, extra);
    auto* to = reinterpret_cast<std::uint32_t*>(dst);
    *to = (*to & ~mask) | (result & mask);
    if (instruction.dst2 != kNoOperand) {
      auto* other = warp.as<std::uint32_t>(instruction.dst2);
      *other = (*other & ~mask) | (second & mask);
    }
  } else if (mask == kAllLanes && instruction.dst2 == kNoOperand) {
    instruction.lane(dst, a, b, c, extra);
  } else {
    alignas(64) std::byte result[16 * kLanes];
    std::uint32_t second = 0;
    if (instruction.dst2 != kNoOperand) extra.dst2 = &second;
    instruction.lane(result, a, b, c, extra);
    write_lanes(dst, result, instruction.dst_bytes, mask);
    if (instruction.dst2 != kNoOperand) {
      auto* other = warp.as<std::uint32_t>(instruction.dst2);
      *other = (*other & ~mask) | (second & mask);
    }
  }
  warp.carry = (warp.carry & ~mask) | (carry & mask);
  return true;
}

// target: list of the registers of d, a, b, c; aux: how many of d, a, b.
bool exec_fragment(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  void* places[128];
  const std::uint32_t size = instruction.list_size < 128 ? instruction.list_size : 128;
  for (std::uint32_t i = 0; i < size; ++i) places[i] = warp.at(refs[i]);
  const std::uint32_t d = instruction.aux & 0xffu, a = (instruction.aux >> 8) & 0xffu, b = (instruction.aux >> 16) & 0xffu;
  LaneExtra extra;
  extra.immediate = static_cast<std::uint32_t>(instruction.imm);
  extra.carry = &warp.carry;
  const auto* sources = const_cast<const void* const*>(places);
  if (mask != kAllLanes && mask != warp.live) {
    warp.launch->report("divergent_barrier", warp, instruction, std::countr_zero(mask),
                        "a matrix instruction is executed by a part of the warp's lanes; all of them have to take part", {}, false);
  }
  if (mask == kAllLanes) {
    instruction.fragment(places, sources + d, sources + d + a, sources + d + a + b, extra);
    return true;
  }
  alignas(64) std::byte results[32][8 * kLanes];
  void* temporary[32];
  for (std::uint32_t i = 0; i < d && i < 32; ++i) temporary[i] = results[i];
  instruction.fragment(temporary, sources + d, sources + d + a, sources + d + a + b, extra);
  for (std::uint32_t i = 0; i < d && i < 32; ++i) write_lanes(places[i], results[i], instruction.dst_bytes, mask);
  return true;
}

bool exec_copy(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  void* dst = warp.at(instruction.dst);
  const void* from = warp.at(instruction.a);
  if (mask == kAllLanes) {
    std::memmove(dst, from, static_cast<std::size_t>(instruction.dst_bytes) * kLanes);
  } else {
    write_lanes(dst, from, instruction.dst_bytes, mask);
  }
  return true;
}

// bytes: width of the source; imm: 1 extends the sign.
bool exec_resize(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  alignas(64) std::byte result[16 * kLanes] = {};
  const std::byte* from = warp.at(instruction.a);
  const int in = instruction.bytes, out = instruction.dst_bytes;
  if (in == 4 && out == 8) {
    const auto* narrow = reinterpret_cast<const std::uint32_t*>(from);
    auto* wide = reinterpret_cast<std::uint64_t*>(result);
    if (instruction.imm != 0) {
      for (int i = 0; i < kLanes; ++i)
        wide[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(narrow[i])));
    } else {
      for (int i = 0; i < kLanes; ++i) wide[i] = narrow[i];
    }
  } else if (in == 8 && out == 4) {
    for (int i = 0; i < kLanes; ++i)
      reinterpret_cast<std::uint32_t*>(result)[i] = static_cast<std::uint32_t>(reinterpret_cast<const std::uint64_t*>(from)[i]);
  } else {
    const std::size_t both = static_cast<std::size_t>(in < out ? in : out);
    for (int i = 0; i < kLanes; ++i) std::memcpy(result + i * out, from + i * in, both);
  }
  write_lanes(warp.at(instruction.dst), result, out, mask);
  return true;
}

// target: list of parts, `bytes` each, the first is the lowest.
bool exec_pack(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  alignas(64) std::byte result[16 * kLanes];
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  const std::size_t part = instruction.bytes, whole = instruction.dst_bytes;
  const std::size_t stride = part == 8 ? 8 : 4;
  for (std::uint32_t k = 0; k < instruction.list_size; ++k) {
    const std::byte* from = warp.at(refs[k]);
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(result + static_cast<std::size_t>(i) * whole + k * part, from + static_cast<std::size_t>(i) * stride, part);
  }
  write_lanes(warp.at(instruction.dst), result, instruction.dst_bytes, mask);
  return true;
}

bool exec_unpack(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  alignas(64) std::byte source[16 * kLanes];
  const std::size_t part = instruction.bytes, whole = instruction.dst_bytes;
  std::memcpy(source, warp.at(instruction.a), whole * kLanes);
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  const std::size_t stride = part == 8 ? 8 : 4;
  for (std::uint32_t k = 0; k < instruction.list_size; ++k) {
    if (refs[k] == kNoOperand) continue;
    alignas(64) std::byte result[8 * kLanes] = {};
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(result + static_cast<std::size_t>(i) * stride, source + static_cast<std::size_t>(i) * whole + k * part, part);
    write_lanes(warp.at(refs[k]), result, static_cast<int>(stride), mask);
  }
  return true;
}

bool exec_predicate_logic(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t a = warp.predicate(instruction.a);
  const std::uint32_t b = instruction.b == kNoOperand ? 0 : warp.predicate(instruction.b);
  std::uint32_t result = a;
  switch (instruction.aux) {
    case kPredAnd:
      result = a & b;
      break;
    case kPredOr:
      result = a | b;
      break;
    case kPredXor:
      result = a ^ b;
      break;
    case kPredNot:
      result = ~a;
      break;
    default:
      break;
  }
  auto* to = warp.as<std::uint32_t>(instruction.dst);
  *to = (*to & ~mask) | (result & mask);
  return true;
}

bool exec_broadcast(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  auto value = static_cast<std::uint64_t>(instruction.imm);
  if (instruction.aux == kBroadcastLocal) value += warp.frame->local_base;
  if (instruction.aux == kBroadcastParam) value += reinterpret_cast<std::uint64_t>(warp.launch->params.data());
  if (instruction.aux == kBroadcastDynamicShared) value += warp.launch->dynamic_offset;
  if (instruction.dst_bytes == 8) {
    alignas(64) std::uint64_t all[kLanes];
    for (std::uint64_t& lane : all) lane = value;
    write_lanes(warp.at(instruction.dst), all, 8, mask);
  } else {
    alignas(64) std::uint32_t all[kLanes];
    for (std::uint32_t& lane : all) lane = static_cast<std::uint32_t>(value);
    write_lanes(warp.at(instruction.dst), all, 4, mask);
  }
  return true;
}

// The clock counts this warp's instructions by the time of the host: it only grows.
bool exec_clock(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - warp.launch->start).count();
  // It begins anywhere: a kernel cannot tell how long its launch has been running.
  const std::uint64_t begin = mixed(warp.launch->seed, 6) >> 24;
  const std::uint64_t cycles = begin + static_cast<std::uint64_t>(seconds * warp.launch->options.limits.clock_hz);
  const auto nanoseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  ++warp.polls;
  std::uint64_t value = cycles;
  switch (instruction.aux) {
    case kClockHigh:
      value = cycles >> 32;
      break;
    case kGlobalTimer:
    case kGlobalTimerLow:
      value = nanoseconds;
      break;
    case kGlobalTimerHigh:
      value = nanoseconds >> 32;
      break;
    default:
      break;
  }
  alignas(64) std::uint64_t all[kLanes];
  if (instruction.dst_bytes == 8) {
    for (std::uint64_t& lane : all) lane = value;
  } else {
    for (int i = 0; i < kLanes; ++i) reinterpret_cast<std::uint32_t*>(all)[i] = static_cast<std::uint32_t>(value);
  }
  write_lanes(warp.at(instruction.dst), all, instruction.dst_bytes, mask);
  return true;
}

bool exec_isspacep(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto* address = warp.as<std::uint64_t>(instruction.a);
  std::uint32_t result = 0;
  const auto params = reinterpret_cast<std::uint64_t>(warp.launch->params.data());
  const std::uint64_t params_end = params + warp.launch->params.size() * sizeof(RegisterChunk);
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t tag = address[i] & kTagMask;
    bool is = false;
    switch (instruction.space) {
      case Space::shared:
        is = tag == kSharedTag && (instruction.aux != 0 || (address[i] & 0xff000000u) == 0);
        break;
      case Space::local:
        is = tag == kLocalTag;
        break;
      case Space::param:
        is = address[i] >= params && address[i] < params_end;
        break;
      case Space::global:
        is = tag == 0;
        break;
      default:
        is = false;
        break;
    }
    result |= (is ? 1u : 0u) << i;
  }
  auto* to = warp.as<std::uint32_t>(instruction.dst);
  *to = (*to & ~mask) | (result & mask);
  return true;
}

// imm 1: from generic to the space.
bool exec_cvta(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint64_t tag = instruction.space == Space::shared ? kSharedTag : instruction.space == Space::local ? kLocalTag : 0;
  alignas(64) std::uint64_t result[kLanes];
  if (instruction.dst_bytes == 4) {
    write_lanes(warp.at(instruction.dst), warp.at(instruction.a), 4, mask);
    return true;
  }
  const auto* from = warp.as<std::uint64_t>(instruction.a);
  if (instruction.imm != 0) {
    for (int i = 0; i < kLanes; ++i) result[i] = tag == 0 ? from[i] : from[i] & ~kTagMask;
  } else {
    for (int i = 0; i < kLanes; ++i) result[i] = from[i] | tag;
  }
  write_lanes(warp.at(instruction.dst), result, 8, mask);
  return true;
}

bool exec_nothing(Warp& /*warp*/, const Instruction& /*instruction*/, std::uint32_t /*mask*/) { return true; }

// The address of the same place in the shared memory of another block of the cluster: its rank plus one in bits 24 to 31.
bool exec_mapa(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto* rank = warp.as<std::uint32_t>(instruction.b);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const std::uint32_t tagged = (rank[i] + 1) << 24;
    if (instruction.dst_bytes == 8) {
      warp.as<std::uint64_t>(instruction.dst)[i] = (warp.as<std::uint64_t>(instruction.a)[i] & ~0xff000000ull) | tagged;
    } else {
      warp.as<std::uint32_t>(instruction.dst)[i] = (warp.as<std::uint32_t>(instruction.a)[i] & 0x00ffffffu) | tagged;
    }
  }
  return true;
}

}  // namespace kw::vgpu
