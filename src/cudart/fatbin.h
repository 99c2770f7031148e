// The container in which nvcc puts device code into a host object: which images it holds, and the PTX text of the best one.
// It never writes to the container and never reads beyond the sizes that its headers state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::cudart {

enum class ImageKind { ptx, machine_code, other };
enum class Packing { none, lz4, zstd };

struct FatImage {
  ImageKind kind = ImageKind::other;
  Packing packing = Packing::none;
  int arch = 0;                        // 80 for compute_80 or sm_80
  std::string file;                    // the source's name, where it is stored
  std::span<const std::byte> payload;  // as it is stored
  std::uint64_t unpacked_bytes = 0;    // where it is packed
};

// A container with its header; `bytes` may be longer than the container.
Result<std::vector<FatImage>> read_fatbin(std::span<const std::byte> bytes);
// The size of the container that begins here, from its header; an error where there is none.
Result<std::uint64_t> fatbin_bytes(std::span<const std::byte> first_16);

// The text of one PTX image, unpacked.
Result<std::string> ptx_text(const FatImage& image);

// The PTX of the highest architecture that the device's compute capability allows, else of the lowest there is. An error says how
// to compile where there is no PTX.
Result<const FatImage*> choose_ptx(const std::vector<FatImage>& images, int capability);

// A block of LZ4 as a text of exactly `unpacked_bytes`.
Result<std::string> unpack_lz4(std::span<const std::byte> packed, std::uint64_t unpacked_bytes);

}  // namespace kw::cudart
