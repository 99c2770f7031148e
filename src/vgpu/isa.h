// Whether the AVX2 copies of the *_hot.cpp files may run here.
#pragma once

namespace kw::vgpu {

inline bool avx2_usable() {
#if defined(KW_VGPU_AVX2)
  static const bool usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return usable;
#else
  return false;
#endif
}

}  // namespace kw::vgpu
