#include "record/opencl_contract.h"

namespace kw {
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

}  // namespace kw
