// Any bytes are either refused or give tensors that lie inside them and are of the size that they say.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "problem/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto parsed = kw::parse_safetensors(bytes, "fuzz");
  if (!parsed) {
    if (parsed.error().message.find("fuzz") == std::string::npos) std::abort();
    return 0;
  }
  std::size_t total = 0;
  unsigned sum = 0;
  for (const auto& tensor : *parsed) {
    std::size_t expected = kw::size_of(tensor.dtype);
    for (const auto extent : tensor.shape) expected *= static_cast<std::size_t>(extent);
    if (tensor.bytes.size() != expected) std::abort();
    for (const auto byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
    total += tensor.bytes.size();
  }
  if (total > size) std::abort();
  // What was read can be written, and reads back as the same.
  const auto written = kw::format_safetensors(*parsed);
  if (!written) return 0;
  const std::span<const std::byte> again(reinterpret_cast<const std::byte*>(written->data()), written->size());
  const auto reparsed = kw::parse_safetensors(again, "fuzz");
  if (!reparsed || reparsed->size() != parsed->size()) std::abort();
  return sum == 0xffffffffU ? 1 : 0;
}
