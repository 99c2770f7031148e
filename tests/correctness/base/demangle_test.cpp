#include "base/demangle.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Demangle, NamesArePeoplesAndOthersStay) {
  EXPECT_EQ(demangled("_Z5saxpyiPf"), "saxpy(int, float*)");
  EXPECT_EQ(demangled("kernel_of_triton"), "kernel_of_triton");
}

TEST(Demangle, ParametersAreLeftOut) {
  EXPECT_EQ(without_parameters("saxpy(int, float*)"), "saxpy");
  EXPECT_EQ(without_parameters("void rows<float, 4>(float (*)(int), float*)"), "rows<float, 4>");
  EXPECT_EQ(without_parameters("(anonymous namespace)::turn(float const*)"), "(anonymous namespace)::turn");
  EXPECT_EQ(without_parameters("kernel_of_triton"), "kernel_of_triton");
  EXPECT_EQ(without_parameters(")"), ")");
  EXPECT_EQ(without_parameters(""), "");
}

}  // namespace
}  // namespace kw
