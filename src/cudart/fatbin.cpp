#include "cudart/fatbin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace kw::cudart {
namespace {

constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::size_t kContainerHeader = 16;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::uint64_t kMostUnpacked = 1ull << 30;  // no PTX is larger; a damaged header may say so
constexpr const char* kHowToCompile =
    "compile with: nvcc -gencode arch=compute_80,code=compute_80 -no-compress -lineinfo -cudart none";

// Where the fields of an image's header lie, in bytes from its begin.
constexpr std::size_t kKindAt = 0, kHeaderSizeAt = 4, kPayloadSizeAt = 8, kPackedSizeAt = 16, kArchAt = 28, kNameOffsetAt = 32,
                      kNameSizeAt = 36, kFlagsAt = 40, kUnpackedSizeAt = 56, kLeastHeader = 64;

template <typename T>
T field_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view as_chars(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

FatImage read_image(std::span<const std::byte> header, std::span<const std::byte> payload) {
  FatImage image;
  const auto kind = field_at<std::uint16_t>(header, kKindAt);
  image.kind = kind == 1 ? ImageKind::ptx : kind == 2 ? ImageKind::machine_code : ImageKind::other;
  image.arch = static_cast<int>(field_at<std::uint32_t>(header, kArchAt));
  const auto flags = field_at<std::uint64_t>(header, kFlagsAt);
  image.payload = payload;
  if ((flags & (kFlagLz4 | kFlagZstd)) != 0) {
    image.packing = (flags & kFlagZstd) != 0 ? Packing::zstd : Packing::lz4;
    image.payload = payload.first(std::min<std::size_t>(payload.size(), field_at<std::uint32_t>(header, kPackedSizeAt)));
    image.unpacked_bytes = field_at<std::uint64_t>(header, kUnpackedSizeAt);
  }
  const auto name_at = field_at<std::uint32_t>(header, kNameOffsetAt), name_size = field_at<std::uint32_t>(header, kNameSizeAt);
  if (name_size > 0 && name_at <= header.size() && name_size <= header.size() - name_at) {
    image.file = as_chars(header.subspan(name_at, name_size));
    image.file.resize(std::strlen(image.file.c_str()));
  }
  return image;
}

// libzstd is on nearly every system, its headers are not: found at run time, where a program needs it at all.
Result<std::string> unpack_zstd(std::span<const std::byte> packed, std::uint64_t unpacked_bytes) {
  const std::unique_ptr<void, int (*)(void*)> library(::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL),
                                                      [](void* handle) { return handle == nullptr ? 0 : ::dlclose(handle); });
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  auto* decompress = library ? reinterpret_cast<Decompress>(::dlsym(library.get(), "ZSTD_decompress")) : nullptr;
  if (decompress == nullptr)
    return bad_input("the program's PTX is compressed with zstd, and there is no libzstd.so.1 here", kHowToCompile);
  std::string text(unpacked_bytes, '\0');
  if (decompress(text.data(), text.size(), packed.data(), packed.size()) != unpacked_bytes)
    return bad_input("the program's compressed PTX is damaged", kHowToCompile);
  return text;
}

}  // namespace

Result<std::uint64_t> fatbin_bytes(std::span<const std::byte> first_16) {
  if (first_16.size() < kContainerHeader || field_at<std::uint32_t>(first_16, 0) != kContainerMagic)
    return bad_input("the program's device code does not begin as a container of nvcc's does", kHowToCompile);
  return field_at<std::uint16_t>(first_16, 6) + field_at<std::uint64_t>(first_16, 8);
}

Result<std::vector<FatImage>> read_fatbin(std::span<const std::byte> bytes) {
  KW_TRY(const std::uint64_t whole, fatbin_bytes(bytes.first(std::min(bytes.size(), kContainerHeader))));
  const auto damaged = [] { return bad_input("the container of the program's device code is damaged", kHowToCompile); };
  const auto header_size = field_at<std::uint16_t>(bytes, 6);
  if (whole > bytes.size() || header_size < kContainerHeader) return damaged();
  bytes = bytes.first(whole).subspan(header_size);
  std::vector<FatImage> images;
  while (bytes.size() >= kLeastHeader) {
    const auto image_header = field_at<std::uint32_t>(bytes, kHeaderSizeAt);
    const auto payload = field_at<std::uint64_t>(bytes, kPayloadSizeAt);
    if (image_header < kLeastHeader || image_header > bytes.size() || payload > bytes.size() - image_header) return damaged();
    images.push_back(read_image(bytes.first(image_header), bytes.subspan(image_header, payload)));
    bytes = bytes.subspan(image_header + payload);
  }
  return images;
}

Result<std::string> ptx_text(const FatImage& image) {
  if (image.kind != ImageKind::ptx) return internal_error("this image is no PTX");
  if (image.unpacked_bytes > kMostUnpacked) return bad_input("the program's compressed PTX is damaged", kHowToCompile);
  std::string text;
  if (image.packing == Packing::lz4) {
    KW_TRY(text, unpack_lz4(image.payload, image.unpacked_bytes));
  } else if (image.packing == Packing::zstd) {
    KW_TRY(text, unpack_zstd(image.payload, image.unpacked_bytes));
  } else {
    text = as_chars(image.payload);
  }
  text.resize(std::strlen(text.c_str()));  // it is padded with zeros
  return text;
}

Result<const FatImage*> choose_ptx(const std::vector<FatImage>& images, int capability) {
  const FatImage* best = nullptr;
  std::string machine_code;
  for (const FatImage& image : images) {
    if (image.kind == ImageKind::machine_code)
      machine_code += (machine_code.empty() ? "sm_" : ", sm_") + std::to_string(image.arch);
    if (image.kind != ImageKind::ptx) continue;
    const bool fits = image.arch <= capability;
    const bool best_fits = best != nullptr && best->arch <= capability;
    if (best == nullptr || (fits && !best_fits) ||
        (fits == best_fits && (fits ? image.arch > best->arch : image.arch < best->arch)))
      best = &image;
  }
  if (best != nullptr) return best;
  if (!machine_code.empty())
    return bad_input("the program has machine code only (" + machine_code + "), and the virtual GPU runs PTX", kHowToCompile);
  return bad_input("the program has no device code", kHowToCompile);
}

Result<std::string> unpack_lz4(std::span<const std::byte> packed, std::uint64_t unpacked_bytes) {
  const auto damaged = [] { return bad_input("the program's compressed PTX is damaged", kHowToCompile); };
  std::string text;
  text.reserve(std::min<std::uint64_t>(unpacked_bytes, kMostUnpacked));
  std::size_t at = 0;
  // A length of 15 goes on in bytes of 255 each, ended by a smaller one.
  const auto longer = [&](std::size_t length) -> Result<std::size_t> {
    if (length < 15) return length;
    for (std::uint8_t more = 255; more == 255;) {
      if (at >= packed.size() || length > unpacked_bytes) return damaged();
      more = static_cast<std::uint8_t>(packed[at++]);
      length += more;
    }
    return length;
  };
  while (at < packed.size()) {
    const auto token = static_cast<std::uint8_t>(packed[at++]);
    KW_TRY(const std::size_t literals, longer(token >> 4));
    if (literals > packed.size() - at || literals > unpacked_bytes - text.size()) return damaged();
    text += as_chars(packed.subspan(at, literals));
    at += literals;
    if (at == packed.size()) break;  // the last sequence has no match
    if (packed.size() - at < 2) return damaged();
    const std::size_t distance = field_at<std::uint16_t>(packed, at);
    at += 2;
    KW_TRY(const std::size_t repeated, longer(token & 15));
    const std::size_t match = repeated + 4;
    if (distance == 0 || distance > text.size() || match > unpacked_bytes - text.size()) return damaged();
    for (std::size_t i = 0; i < match; ++i) text += text[text.size() - distance];
  }
  if (text.size() != unpacked_bytes) return damaged();
  return text;
}

}  // namespace kw::cudart
