#include "problem/safetensors.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) text.push_back(static_cast<char>(header.size() >> (8 * i) & 0xff));
  return text + header + std::string(data_bytes, '\0');
}

struct Case {
  const char* what;
  std::string file;
  const char* says;  // in the message
};

class BadSafetensors : public ::testing::TestWithParam<Case> {};

TEST_P(BadSafetensors, IsRefusedWithTheFilesName) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "bad.safetensors";
  ASSERT_TRUE(write_file_atomically(path, GetParam().file));
  const auto file = SafetensorsFile::open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find(path.string()), std::string::npos) << file.error().message;
  EXPECT_NE(file.error().message.find(GetParam().says), std::string::npos) << file.error().message;
}

const std::string kX = R"("x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";

INSTANTIATE_TEST_SUITE_P(
    Files, BadSafetensors,
    ::testing::Values(
        Case{"empty", "", "empty"}, Case{"too_short", "abc", "too few"},
        Case{"header_longer_than_file", std::string("\xff\0\0\0\0\0\0\0{}", 10), "header has 255"},
        Case{"header_size_wraps", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "header has 18446744073709551615"},
        Case{"no_json", file_of("{\"x\": ", 0), "JSON"}, Case{"no_object", file_of("[1, 2]", 0), "JSON object"},
        Case{"deep", file_of(std::string(1000, '['), 0), "nested"}, Case{"truncated", file_of("{" + kX + "}", 7), "'x'"},
        Case{"left_over", file_of("{" + kX + "}", 9), "cover 8 of 9"},
        Case{"repeated_name", file_of("{" + kX + "," + kX + "}", 8), "'x' twice"},
        Case{"repeated_field", file_of(R"({"x":{"dtype":"F32","dtype":"U8","shape":[8],"data_offsets":[0,8]}})", 8),
             "'dtype' twice"},
        Case{"overlap", file_of("{" + kX + R"(,"y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12), "inside"},
        Case{"hole", file_of("{" + kX + R"(,"y":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})", 16), "past"},
        Case{"backwards", file_of(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[4,0]}})", 4), "offsets 4..0"},
        Case{"unknown_dtype", file_of(R"({"x":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", 8), "F8_E4M3"},
        Case{"wrong_size", file_of(R"({"x":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", 8), "need 16 bytes"},
        Case{"shape_overflows", file_of(R"({"x":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
             "larger"},
        Case{"negative_extent", file_of(R"({"x":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})", 0), "-1"},
        Case{"fractional_extent", file_of(R"({"x":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", 1), "1.5"},
        Case{"one_offset", file_of(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[1]}})", 1), "data_offsets"},
        Case{"no_shape", file_of(R"({"x":{"dtype":"U8","data_offsets":[0,1]}})", 1), "shape"},
        Case{"tensor_is_a_number", file_of(R"({"x":3})", 0), "'x'"}),
    [](const auto& info) { return info.param.what; });

TEST(BadSafetensorsFile, MissingFileIsNamed) {
  const auto file = SafetensorsFile::open("nowhere/none.safetensors");
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("nowhere/none.safetensors"), std::string::npos);
}

TEST(BadSafetensorsFile, AFolderIsRefused) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  EXPECT_FALSE(SafetensorsFile::open(folder->path()).ok());
}

TEST(BadSafetensorsFile, AMissingTensorListsThoseThatAreThere) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomically(folder->path() / "x", file_of("{" + kX + "}", 8)));
  const auto file = SafetensorsFile::open(folder->path() / "x");
  ASSERT_TRUE(file) << file.error().message;
  const auto tensor = file->at("weight");
  ASSERT_FALSE(tensor.ok());
  EXPECT_NE(tensor.error().message.find("'weight'"), std::string::npos);
  EXPECT_NE(tensor.error().hint.find("'x'"), std::string::npos);
}

TEST(BadSafetensorsFile, TheWriterRefusesWhatItCouldNotRead) {
  const std::vector<std::byte> bytes(8);
  const std::vector<NamedTensor> wrong_size{{"x", DType::f32, {3}, bytes}};
  const std::vector<NamedTensor> twice{{"x", DType::f32, {2}, bytes}, {"x", DType::f32, {2}, bytes}};
  EXPECT_FALSE(format_safetensors(wrong_size).ok());
  EXPECT_FALSE(format_safetensors(twice).ok());
}

}  // namespace
}  // namespace kw
