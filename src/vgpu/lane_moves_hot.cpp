// Moves of lanes that the executor needs most: blends by mask, addresses, loads and stores. Compiled for each processor.
#include <algorithm>
#include <cstring>

#include "vgpu/exec.h"

namespace kw::vgpu::KW_ISA {
namespace {

template <typename T>
void blend_lanes(void* dst, const void* src, std::uint32_t mask) {
  auto* to = static_cast<T*>(dst);
  const auto* from = static_cast<const T*>(src);
  KW_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) to[i] = ((mask >> i) & 1u) != 0 ? from[i] : to[i];
}

template <typename T>
bool places_of(std::uint64_t* places, const void* base, std::int64_t offset, std::uint32_t bytes) {
  const auto* from = static_cast<const T*>(base);
  const T by = static_cast<T>(offset);
  std::uint64_t wrong = 0;
  const std::uint64_t first = static_cast<T>(from[0] + by);
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t place = static_cast<T>(from[i] + by);
    places[i] = place;
    wrong |= place ^ (first + static_cast<std::uint64_t>(i) * bytes);
  }
  return wrong == 0;
}

void extent_of(const std::uint64_t* places, std::uint32_t mask, std::uint64_t* least, std::uint64_t* largest) {
  std::uint64_t low = ~0ull, high = 0;
  for (int i = 0; i < kLanes; ++i) {
    const bool on = ((mask >> i) & 1u) != 0;
    const std::uint64_t a = on ? places[i] : ~0ull;
    const std::uint64_t b = on ? places[i] : 0ull;
    low = a < low ? a : low;
    high = b > high ? b : high;
  }
  *least = low;
  *largest = high;
}

template <int count>
void split_words(void* const* dst, const void* from) {
  const auto* words = static_cast<const std::uint32_t*>(from);
  for (int e = 0; e < count; ++e) {
    auto* to = static_cast<std::uint32_t*>(dst[e]);
    for (int i = 0; i < kLanes; ++i) to[i] = words[i * count + e];
  }
}

void split_lanes(void* const* dst, const void* from, int count) {
  if (count == 2) return split_words<2>(dst, from);
  if (count == 4) return split_words<4>(dst, from);
  return split_words<8>(dst, from);
}

template <int count>
void merge_words(void* to, const void* const* src) {
  auto* words = static_cast<std::uint32_t*>(to);
  for (int e = 0; e < count; ++e) {
    const auto* from = static_cast<const std::uint32_t*>(src[e]);
    for (int i = 0; i < kLanes; ++i) words[i * count + e] = from[i];
  }
}

void merge_lanes(void* to, const void* const* src, int count) {
  if (count == 2) return merge_words<2>(to, src);
  if (count == 4) return merge_words<4>(to, src);
  return merge_words<8>(to, src);
}

// Widened by the element's own sign.
template <typename Element, typename Register>
Register loaded_from(std::uint64_t place) {
  Element element;
  std::memcpy(&element, reinterpret_cast<const std::byte*>(place), sizeof(Element));
  return static_cast<Register>(element);  // NOLINT(bugprone-signed-char-misuse): a number of eight bits, no character
}

template <typename Element, typename Register>
void load_lanes(void* dst, const std::uint64_t* places, std::uint32_t offset, std::uint32_t mask) {
  auto* to = static_cast<Register*>(dst);
  if (mask == 0xffffffffu) {
    for (int i = 0; i < kLanes; ++i) to[i] = loaded_from<Element, Register>(places[i] + offset);
    return;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    to[i] = loaded_from<Element, Register>(places[i] + offset);
  }
}

template <typename Element, typename Register>
void store_lanes(const void* src, const std::uint64_t* places, std::uint32_t offset, std::uint32_t mask) {
  const auto* from = static_cast<const Register*>(src);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    Element element;
    if constexpr (sizeof(Element) <= 8) {
      element = static_cast<Element>(from[i]);
    } else {
      element = from[i];
    }
    std::memcpy(reinterpret_cast<std::byte*>(places[i] + offset), &element, sizeof(Element));
  }
}

bool note_access(std::uint64_t* writers, std::uint64_t* readers, std::size_t count, std::uint64_t mine, bool writes) {
  // In one number: another block of this launch. Without branches, so that words go side by side.
  const std::uint64_t own = mine & kShadowBlock, tag = mine >> 52;
  std::uint64_t foreign = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t last = writers[i];
    foreign |= (last >> 52) == tag && (last & kShadowBlock) != own ? ~0ull : 0ull;
  }
  if (!writes) {
    if (foreign != 0) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t read = readers[i];
      const std::uint64_t joined = (read & kShadowBlock) != own ? read | kShadowMany | kShadowBytes : mine | (read & kShadowMany);
      readers[i] = (read >> 52) == tag ? joined : mine;
    }
    return true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t read = readers[i];
    foreign |= (read >> 52) == tag && ((read & kShadowBlock) != own || (read & kShadowMany) != 0) ? ~0ull : 0ull;
  }
  if (foreign != 0) return false;
  for (std::size_t i = 0; i < count; ++i) writers[i] = mine;
  return true;
}

}  // namespace

const LaneMoves& moves() {
  static const LaneMoves table{blend_lanes<std::uint32_t>,
                               blend_lanes<std::uint64_t>,
                               places_of<std::uint64_t>,
                               places_of<std::uint32_t>,
                               extent_of,
                               split_lanes,
                               merge_lanes,
                               note_access};
  return table;
}

LoadFn load_of(Type type, int register_bytes) {
  const int bytes = type_bits(type) / 8;
  const bool sign = type == Type::s8 || type == Type::s16 || type == Type::s32;
  if (bytes == 16) return register_bytes == 16 ? load_lanes<Lane128, Lane128> : nullptr;
  if (register_bytes == 4) {
    if (bytes == 1) return sign ? load_lanes<std::int8_t, std::uint32_t> : load_lanes<std::uint8_t, std::uint32_t>;
    if (bytes == 2) return sign ? load_lanes<std::int16_t, std::uint32_t> : load_lanes<std::uint16_t, std::uint32_t>;
    if (bytes == 4) return load_lanes<std::uint32_t, std::uint32_t>;
  } else if (register_bytes == 8) {
    if (bytes == 1) return sign ? load_lanes<std::int8_t, std::uint64_t> : load_lanes<std::uint8_t, std::uint64_t>;
    if (bytes == 2) return sign ? load_lanes<std::int16_t, std::uint64_t> : load_lanes<std::uint16_t, std::uint64_t>;
    if (bytes == 4) return sign ? load_lanes<std::int32_t, std::uint64_t> : load_lanes<std::uint32_t, std::uint64_t>;
    if (bytes == 8) return load_lanes<std::uint64_t, std::uint64_t>;
  }
  return nullptr;
}

StoreFn store_of(int bytes, int register_bytes) {
  if (bytes == 16) return register_bytes == 16 ? store_lanes<Lane128, Lane128> : nullptr;
  if (register_bytes == 4) {
    if (bytes == 1) return store_lanes<std::uint8_t, std::uint32_t>;
    if (bytes == 2) return store_lanes<std::uint16_t, std::uint32_t>;
    if (bytes == 4) return store_lanes<std::uint32_t, std::uint32_t>;
  } else if (register_bytes == 8) {
    if (bytes == 1) return store_lanes<std::uint8_t, std::uint64_t>;
    if (bytes == 2) return store_lanes<std::uint16_t, std::uint64_t>;
    if (bytes == 4) return store_lanes<std::uint32_t, std::uint64_t>;
    if (bytes == 8) return store_lanes<std::uint64_t, std::uint64_t>;
  }
  return nullptr;
}

}  // namespace kw::vgpu::KW_ISA
