#include "record/opencl_contract.h"

#include <algorithm>
#include <array>

namespace kw {
namespace {

// Words of OpenCL C that a problem in Python may use as names.
constexpr std::array kOpenClWords{"kernel", "global",  "local",   "constant",  "private",   "half",       "uchar",
                                  "ushort", "uint",    "ulong",   "size_t",    "read_only", "write_only", "read_write",
                                  "pipe",   "generic", "event_t", "sampler_t", "restrict",  "vec_step",   "uniform",
                                  "bool",   "quad",    "complex", "imaginary"};

}  // namespace

std::string_view opencl_type(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return "char";
    case DType::i16:
      return "short";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long";
    case DType::u8:
    case DType::boolean:
      return "uchar";
    default:
      return c_type(dtype);
  }
}

std::string opencl_name(const TensorSpec& spec) {
  const bool word = std::find(kOpenClWords.begin(), kOpenClWords.end(), spec.c_name) != kOpenClWords.end();
  return word ? spec.c_name + "_" : spec.c_name;
}

}  // namespace kw
