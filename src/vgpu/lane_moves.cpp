// Which copy of lane_moves_hot.cpp runs here.
#include "vgpu/exec.h"
#include "vgpu/isa.h"

namespace kw::vgpu {

namespace portable {
const LaneMoves& moves();
LoadFn load_of(Type type, int register_bytes);
StoreFn store_of(int bytes, int register_bytes);
}  // namespace portable
#if defined(KW_VGPU_AVX2)
namespace avx2 {
const LaneMoves& moves();
LoadFn load_of(Type type, int register_bytes);
StoreFn store_of(int bytes, int register_bytes);
}  // namespace avx2
#define KW_PICK(call) (avx2_usable() ? avx2::call : portable::call)
#else
#define KW_PICK(call) portable::call
#endif

const LaneMoves& lane_moves() {
  static const LaneMoves& chosen = KW_PICK(moves());
  return chosen;
}
LoadFn find_load(Type type, int register_bytes) { return KW_PICK(load_of(type, register_bytes)); }
StoreFn find_store(int bytes, int register_bytes) { return KW_PICK(store_of(bytes, register_bytes)); }

}  // namespace kw::vgpu
