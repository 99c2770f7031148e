#include "@name@.h"

#include <mutex>
#include <stdexcept>
#include <string>

#include "names.h"
#define KW_RUNNER_ENTRY
#include "problem.h"

#if defined(KW_HAS_PREPARE)
extern "C" __attribute__((weak)) void kw_release(void* state);  // a kernel may keep its state until the program ends
#endif

namespace @name@ {
namespace {

void* checked(const void* pointer, const char* name) {
  if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    throw std::invalid_argument(std::string("@name@: '") + name + "' is " + (pointer == nullptr ? "null" : "not aligned to 64 bytes"));
  return const_cast<void*>(pointer);
}

// Kernels may keep scratch memory between calls.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Kernel::Kernel(const Weights& weights) : weights_(weights) {
@weight_checks@#if defined(KW_HAS_PREPARE)
  void* slots[] = {@prepare_slots@};
  state_ = kw_call_prepare(slots);
#endif
}

Kernel::~Kernel() {
#if defined(KW_HAS_PREPARE)
  if (state_ != nullptr && kw_release != nullptr) kw_release(state_);
#endif
}

void Kernel::operator()(const Inputs& inputs, const Outputs& outputs) const {
  void* slots[] = {@call_slots@};
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  kw_call(state_, slots);
}

}  // namespace @name@
