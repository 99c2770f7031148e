#include "record/kernel.h"

namespace kw {

std::string_view kernel_extension(std::string_view dsl) {
  if (dsl == "cuda-c" || dsl == "cute") return ".cu";
  if (dsl == "triton" || dsl == "tilelang" || dsl == "kernelbench") return ".py";
  return dsl == "opencl" ? ".cl" : ".cpp";
}

KW_JSON_FIELDS(Knob, name, standard, values)
KW_JSON_FIELDS(Kernel, source, dsl, knobs, constraints, claims, author)

}  // namespace kw
