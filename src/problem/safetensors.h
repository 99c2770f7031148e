// Tensors on disk in the safetensors format: a reader that maps the file and believes nothing it says, and a writer.
// It never interprets the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "record/tensor.h"

namespace kw {

struct NamedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // exactly the product of shape times size_of(dtype)

  [[nodiscard]] std::int64_t numel() const;
};

// The tensors of a file that is already in memory, in the order of their data; their bytes point into `data`. Refuses
// what is truncated, overlaps, leaves holes, repeats a name, or whose shape and dtype do not give its size. `what` names
// the source in errors.
Result<std::vector<NamedTensor>> parse_safetensors(std::span<const std::byte> data, std::string_view what);

// A mapped file. The tensors' bytes live as long as this object, are read-only, and are aligned to their element's size.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const fs::path& path);

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] const std::vector<NamedTensor>& tensors() const { return tensors_; }
  [[nodiscard]] const NamedTensor* find(std::string_view name) const;  // null when there is none
  // The same, but an Error that lists the names that are there.
  [[nodiscard]] Result<NamedTensor> at(std::string_view name) const;

 private:
  class Mapping;
  SafetensorsFile(fs::path path, std::shared_ptr<const Mapping> mapping, std::vector<NamedTensor> tensors);

  fs::path path_;
  std::shared_ptr<const Mapping> mapping_;
  std::vector<NamedTensor> tensors_;
  std::vector<std::shared_ptr<const std::byte[]>> realigned_;  // copies of what the file holds at odd offsets
};

// The bytes of a file with these tensors; those with the widest elements come first, so that all are aligned.
Result<std::string> format_safetensors(std::span<const NamedTensor> tensors);
Status write_safetensors(const fs::path& path, std::span<const NamedTensor> tensors);

}  // namespace kw
