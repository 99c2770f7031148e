#include "problem/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kw {
namespace {

template <typename T>
NamedTensor tensor_of(std::string name, DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(values))};
}

template <typename T>
std::vector<T> values_of(const NamedTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "set.safetensors";
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::vector<double> reference{0.1, 0.2};
  const std::vector<std::uint8_t> mask{1, 0, 1};
  const std::vector<std::int64_t> scalar{-7};
  const std::vector<NamedTensor> tensors{tensor_of("mask", DType::boolean, {3}, mask), tensor_of("x", DType::f32, {2, 3}, x),
                                         tensor_of("scalar", DType::i64, {}, scalar),
                                         tensor_of("r\"eference.ü", DType::f64, {2}, reference)};
  ASSERT_TRUE(write_safetensors(path, tensors));

  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 4U);
  const auto* found = file->find("x");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->dtype, DType::f32);
  EXPECT_EQ(found->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(found->numel(), 6);
  EXPECT_EQ(values_of<float>(*found), x);
  EXPECT_EQ(values_of<double>(*file->find("r\"eference.ü")), reference);
  EXPECT_EQ(values_of<std::uint8_t>(*file->find("mask")), mask);
  EXPECT_EQ(values_of<std::int64_t>(*file->find("scalar")), scalar);
  EXPECT_TRUE(file->find("scalar")->shape.empty());
  EXPECT_EQ(file->find("y"), nullptr);
}

TEST(Safetensors, EveryDTypeKeepsItsName) {
  const std::vector<std::byte> bytes(16);
  for (const auto dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64,
                           DType::u8, DType::boolean}) {
    const auto count = static_cast<std::int64_t>(16 / size_of(dtype));
    const std::vector<NamedTensor> tensors{{"t", dtype, {count}, bytes}};
    const auto text = format_safetensors(tensors);
    ASSERT_TRUE(text);
    const auto parsed = parse_safetensors(std::as_bytes(std::span(*text)), "memory");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->front().dtype, dtype);
  }
}

TEST(Safetensors, DataIsAlignedWhateverTheFileSays) {
  // A bool before a double, and a header without padding: the double lies at an odd offset of the file.
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "odd.safetensors";
  const std::string header = R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},)"
                             R"("d":{"dtype":"F64","shape":[2],"data_offsets":[1,17]}})";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  const std::vector<double> values{1.5, -2.5};
  text += header + '\1' + std::string(reinterpret_cast<const char*>(values.data()), 16);
  ASSERT_TRUE(write_file_atomically(path, text));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  const auto* tensor = file->find("d");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->bytes.data()) % 8, 0U);
  EXPECT_EQ(values_of<double>(*tensor), values);
}

TEST(Safetensors, AMovedFileKeepsItsData) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const std::vector<float> x{3, 4};
  ASSERT_TRUE(write_safetensors(folder->path() / "x", std::vector<NamedTensor>{tensor_of("x", DType::f32, {2}, x)}));
  auto opened = SafetensorsFile::open(folder->path() / "x");
  ASSERT_TRUE(opened);
  const SafetensorsFile moved = std::move(*opened);
  EXPECT_EQ(values_of<float>(*moved.find("x")), x);
}

TEST(Safetensors, EmptyTensorsAndNoTensorsAreFine) {
  const std::vector<NamedTensor> tensors{{"e", DType::f32, {0, 4}, {}}, {"f", DType::u8, {0}, {}}};
  for (const std::size_t count : {std::size_t{0}, std::size_t{2}}) {
    const auto text = format_safetensors(std::span(tensors).first(count));
    ASSERT_TRUE(text);
    const auto parsed = parse_safetensors(std::as_bytes(std::span(*text)), "memory");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->size(), count);
  }
}

}  // namespace
}  // namespace kw
