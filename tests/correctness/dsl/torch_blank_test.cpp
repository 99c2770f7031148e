#include "dsl/torch_blank.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_home.h"

namespace kw {
namespace {

TEST(TorchBlank, KernelsAreToldFromWhatAllocatesAndCopies) {
  for (const char* kernel :
       {"sgemm_", "mkl_blas_avx512_sgemm_kernel_0", "cblas_dgemm", "_ZN2at3cpu2mmERKNS_6TensorES3_", "Sleef_expf16_u10",
        "_ZN2at6nativeL16addmm_impl_cpu_ERNS_6TensorERKS1_S4_S4_RKN3c106ScalarES8_",
        "_ZN2at6native17structured_mm_out_cpu4implERKNS_6TensorES4_S4_",
        "_ZN2at6native12_GLOBAL__N_119LayerNormKernelImplERKNS_6TensorES4_S4_lldPS2_S5_S5_", "_ZN4dnnl4impl3cpu3x644gemmEv",
        "_ZN3c1012function_refIFvPPcPKlllEE11callback_fnIN2at6native6AVX51216VectorizedLoop2dIZZZNS9_12_GLOBAL__N_110mul_"
        "kernelEvEUlvE_EEEEvlS2_S4_ll"})
    EXPECT_TRUE(is_kernel_of_torch(kernel)) << kernel;
  for (const char* other :
       {"_ZN3c1010Dispatcher9singletonEv", "_ZN2at4_ops2mm4callERKNS_6TensorES4_", "_ZN2at6native6matmulERKNS_6TensorES3_",
        "_ZN2at6native5copy_ERNS_6TensorERKS1_b", "_ZN2at6native9empty_cpuEN3c108ArrayRefIlEE",
        "_ZN2at6native6AVX512L18direct_copy_kernelERNS_18TensorIteratorBaseE",
        "_ZN2at6native12_GLOBAL__N_111fill_kernelERNS_14TensorIteratorERKN3c106ScalarE",
        "_ZN6fbgemm20FloatToFloat16_avx512EPKfPtmb", "_init", "_ZN5torch8autograd6Engine7executeEv"})
    EXPECT_FALSE(is_kernel_of_torch(other)) << other;
}

TEST(TorchBlank, NamesThatAreCutOffAreRead) {
  for (const char* broken :
       {"_Z", "_ZN2at6native", "_ZN2at6native9", "_ZN2at6native999999999999999999999x", "_ZN2at6native3abE", ""})
    is_kernel_of_torch(broken);
}

TEST(TorchBlank, ACopyIsAnEntryOfTheCacheAndReplacesThatOfTheLibraryAsItWas) {
  const testing::TempHome home(testing::CacheIs::own);
  fs::path before;
  {
    const auto blank = blank_torch();
    ASSERT_TRUE(blank.ok());
    if (!*blank) GTEST_SKIP() << "PyTorch's library has no table of symbols";
    before = (*blank)->code.parent_path();
    ASSERT_EQ(cache_entries().size(), 1U);
    EXPECT_TRUE(cache_entries()[0].in_use);
    shrink_cache(0, false);
    EXPECT_TRUE(fs::exists((*blank)->code)) << "whoever is about to map it has it";
  }
  const std::string name = before.filename().string();
  const fs::path older = before.parent_path() / (name.substr(0, name.find('-')) + "-before");
  const fs::path of_another = before.parent_path() / "another-1";
  fs::rename(before, older);
  ASSERT_TRUE(make_folders(of_another).ok());
  const auto blank = blank_torch();
  ASSERT_TRUE(blank.ok() && *blank);
  EXPECT_EQ((*blank)->code.parent_path(), before);
  EXPECT_FALSE(fs::exists(older));
  EXPECT_TRUE(fs::exists(of_another));
}

TEST(TorchBlank, AProcessThatMapsPyTorchsOwnCodeIsNotAsItWasMade) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const fs::path code = folder->path() / "code";
  ASSERT_TRUE(write_file_atomically(code, "x"));
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  EXPECT_NE(executable_objection(::getpid(), {self, code, 0, 1, {}}).find("PyTorch's own kernels"), std::string::npos);
  EXPECT_FALSE(executable_objection(::getpid(), {code, code, 0, 1, {}}).empty());  // the copy is nowhere
}

}  // namespace
}  // namespace kw
