#include "dsl/allowed_imports.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

using Names = std::vector<std::string_view>;

TEST(AllowedImports, LeadingNamesAreThoseOfTheFunctionAndNotOfItsResult) {
  EXPECT_EQ(leading_names("_ZN2at3cpu2mmERKNS_6TensorES3_"), (Names{"at", "cpu"}));
  EXPECT_EQ(leading_names("_ZNK2at10TensorBase8is_metaEv"), (Names{"at", "TensorBase"}));
  EXPECT_EQ(leading_names("_ZTVN5torch8autograd12AutogradMetaE"), (Names{"torch", "autograd"}));
  EXPECT_EQ(leading_names("_ZGVZN3c105ErrorE"), (Names{"c10", "Error"}));
  EXPECT_EQ(leading_names("_Z16THPVariable_WrapRKN2at10TensorBaseE"), Names{"THPVariable_Wrap"});
  EXPECT_TRUE(leading_names("sgemm_64_").empty());
  EXPECT_TRUE(leading_names("_Z").empty());
  EXPECT_TRUE(leading_names("_ZN99999999999999999999x").empty());
}

TEST(AllowedImports, ExtensionsHavePyTorchDownToItsDispatcher) {
  for (const char* allowed :
       {"PyModule_Create2", "_Py_NoneStruct", "THPVariableClass", "_ZN2at4_ops10empty_like4callERKNS_6TensorE",
        "_ZN3c106detail14torchCheckFailEPKcS2_jS2_", "_ZTIN5torch7LibraryE"})
    EXPECT_TRUE(is_python_extension_name(allowed)) << allowed;
  for (const char* refused :
       {"_ZN2at3cpu2mmERKNS_6TensorES3_", "_ZN2at6native2mmERKNS_6TensorE", "_ZN2at27compositeexplicitautograd4fillE", "sgemm_64_",
        "cblas_sgemm", "mkl_blas_sgemm", "aoti_torch_cpu_mm_out", "dnnl_sgemm", "_ZN4dnnl4impl3cpuE"})
    EXPECT_FALSE(is_python_extension_name(refused)) << refused;
}

TEST(AllowedImports, RuntimesDefineWhatKernelsUse) {
  const auto names = runtime_names();
  ASSERT_TRUE(names.ok()) << names.error().message;
  for (const char* defined : {"malloc", "memcpy", "expf", "GOMP_parallel", "omp_get_max_threads", "_Znwm", "__cxa_throw"})
    EXPECT_TRUE((*names)->contains(defined)) << defined;
  for (const char* other : {"sgemm_", "sgemm_64_", "cblas_sgemm", "deflate", "__gmon_start__"})
    EXPECT_FALSE((*names)->contains(other)) << other;
  EXPECT_TRUE(is_linkers_own("__gmon_start__"));
}

}  // namespace
}  // namespace kw
