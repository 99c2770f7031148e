#include "record/tensor.h"

#include <array>

namespace kw {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
  double epsilon;
};
constexpr std::array<DTypeRow, 10> kDTypes{{
    {DType::f32, "float32", 4, 0x1p-23},
    {DType::f64, "float64", 8, 0x1p-52},
    {DType::f16, "float16", 2, 0x1p-10},
    {DType::bf16, "bfloat16", 2, 0x1p-7},
    {DType::i8, "int8", 1, 0},
    {DType::i16, "int16", 2, 0},
    {DType::i32, "int32", 4, 0},
    {DType::i64, "int64", 8, 0},
    {DType::u8, "uint8", 1, 0},
    {DType::boolean, "bool", 1, 0},
}};
const DTypeRow& row(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

constexpr std::array<std::string_view, 6> kKinds{"input", "scalar", "parameter", "buffer", "attribute", "output"};

TensorKind kind_from_name(const std::string& name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == name) return static_cast<TensorKind>(i);
  throw Json::other_error::create(501, "unknown tensor kind '" + name + "'", nullptr);
}

}  // namespace

std::string_view torch_name(DType dtype) { return row(dtype).name; }
std::size_t size_of(DType dtype) { return row(dtype).size; }
double epsilon_of(DType dtype) { return row(dtype).epsilon; }
bool is_floating(DType dtype) { return row(dtype).epsilon > 0; }

Result<DType> dtype_from_torch_name(std::string_view name) {
  for (const auto& candidate : kDTypes)
    if (candidate.name == name) return candidate.dtype;
  return bad_input("unsupported tensor type '" + std::string(name) + "'");
}

std::uint64_t poison_word(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0x7fc0dead7fc0deadULL;
    case DType::f64:
      return 0x7ff8dead7fc0deadULL;
    case DType::f16:
      return 0x7ead7ead7ead7eadULL;
    case DType::bf16:
      return 0x7fed7fed7fed7fedULL;
    default:
      return 0xa5a5a5a5a5a5a5a5ULL;
  }
}

std::int64_t TensorSpec::numel() const {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

bool TensorSpec::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

void to_json(Json& json, const TensorSpec& spec) {
  json = Json{{"name", spec.name},
              {"c_name", spec.c_name},
              {"dtype", torch_name(spec.dtype)},
              {"kind", kKinds[static_cast<std::size_t>(spec.kind)]},
              {"shape", spec.shape},
              {"strides", spec.strides},
              {"span", spec.span}};
  if (spec.kind == TensorKind::scalar) json["value"] = spec.value;
}

void from_json(const Json& json, TensorSpec& spec) {
  spec.name = json.at("name").get<std::string>();
  spec.c_name = json.at("c_name").get<std::string>();
  auto dtype = dtype_from_torch_name(json.at("dtype").get<std::string>());
  if (!dtype) throw Json::other_error::create(502, dtype.error().message, nullptr);
  spec.dtype = *dtype;
  spec.kind = kind_from_name(json.at("kind").get<std::string>());
  spec.shape = json.at("shape").get<std::vector<std::int64_t>>();
  spec.strides = json.at("strides").get<std::vector<std::int64_t>>();
  spec.span = json.at("span").get<std::int64_t>();
  if (spec.kind == TensorKind::scalar) spec.value = json.at("value").get<double>();
  if (spec.strides.size() != spec.shape.size())
    throw Json::other_error::create(503, "strides and shape of '" + spec.name + "' differ in length", nullptr);
}

}  // namespace kw
