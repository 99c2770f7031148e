// Gives the kernel to PyTorch as an operator: checks what it gets, allocates what it returns, and keeps what kw_prepare made of the
// weights for as long as they stay as they are. It computes nothing itself.
#include "contract.h"
#include "problem.h"

#include <omp.h>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#if defined(KW_HAS_PREPARE)
extern "C" __attribute__((weak)) void kw_release(void* state);  // a kernel may keep its state until the process ends
#endif

namespace {

using contract::Argument;
using contract::Role;

constexpr std::uintptr_t kAlignment = 64;  // of every pointer that a kernel gets

// The least that a tensor has to be. Other strides and odd addresses are mended by a copy.
void check(const at::Tensor& tensor, const Argument& wanted) {
  TORCH_CHECK(tensor.device().is_cpu() && tensor.layout() == c10::kStrided, "'", wanted.name, "' is no dense tensor of the CPU");
  TORCH_CHECK(tensor.scalar_type() == wanted.type, "'", wanted.name, "' is ", tensor.scalar_type(), " and not ", wanted.type,
              ": the kernel is for one type");
  TORCH_CHECK(tensor.sizes() == wanted.sizes, "'", wanted.name, "' has the shape ", tensor.sizes(), " and not ",
              c10::IntArrayRef(wanted.sizes), ": the kernel is for one shape");
}

bool is_as_wanted(const at::Tensor& tensor, const Argument& wanted) {
  for (std::size_t d = 0; d < wanted.sizes.size(); ++d)
    if (wanted.sizes[d] > 1 && tensor.stride(static_cast<std::int64_t>(d)) != wanted.strides[d]) return false;
  return !tensor.is_neg() && reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % kAlignment == 0;
}

at::Tensor as_wanted(const at::Tensor& tensor, const Argument& wanted) {
  if (is_as_wanted(tensor, wanted)) return tensor;
  at::Tensor copy = at::empty_strided(wanted.sizes, wanted.strides, at::TensorOptions().dtype(wanted.type));
  copy.copy_(tensor);
  return copy;
}

void* address(const at::Tensor& tensor) { return const_cast<void*>(tensor.const_data_ptr()); }

// What was made of one set of weights: copies where they lay badly, and the kernel's own state.
struct Prepared {
  std::vector<at::Tensor> copies;  // undefined where the weight itself serves: holding it would keep it alive
  void* state = nullptr;

  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
#if defined(KW_HAS_PREPARE)
    if (state != nullptr && kw_release != nullptr) kw_release(state);
#endif
  }
};

std::shared_ptr<const Prepared> prepare(const std::vector<at::Tensor>& weights) {
  auto made = std::make_shared<Prepared>();
  std::vector<void*> slots(contract::arguments().size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Argument& wanted = contract::arguments()[contract::kInputs + i];
    at::Tensor used = as_wanted(weights[i], wanted);
    slots[contract::kInputs + i] = address(used);
    made->copies.push_back(used.is_same(weights[i]) ? at::Tensor() : used);
  }
#if defined(KW_HAS_PREPARE)
  made->state = kw_call_prepare(slots.data());
#endif
  return made;
}

// A weight as it was when it was prepared. The weak reference keeps another storage from taking the same address.
struct Seen {
  c10::weak_intrusive_ptr<c10::StorageImpl> storage;
  const void* data;
  std::uint32_t version;
};

class Cache {
 public:
  std::shared_ptr<const Prepared> of(const std::vector<at::Tensor>& weights) {
    for (const at::Tensor& weight : weights)
      if (weight.is_inference()) return prepare(weights);  // its changes are not counted: nothing says when to prepare it again
    const void* key = weights.empty() ? nullptr : weights.front().const_data_ptr();
    if (const auto found = entries_.find(key); found != entries_.end() && is_same(found->second, weights))
      return found->second.made;
    forget_the_dead();
    Entry entry{{}, prepare(weights)};
    for (const at::Tensor& weight : weights)
      entry.seen.push_back(
          Seen{weight.storage().getWeakStorageImpl(), weight.const_data_ptr(), static_cast<std::uint32_t>(weight._version())});
    return entries_.insert_or_assign(key, std::move(entry)).first->second.made;
  }

  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::vector<Seen> seen;
    std::shared_ptr<const Prepared> made;
  };

  static bool is_same(const Entry& entry, const std::vector<at::Tensor>& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Seen& seen = entry.seen[i];
      if (seen.data != weights[i].const_data_ptr() || seen.version != static_cast<std::uint32_t>(weights[i]._version()) ||
          seen.storage._unsafe_get_target() != weights[i].storage().unsafeGetStorageImpl())
        return false;
    }
    return true;
  }

  void forget_the_dead() {
    std::erase_if(entries_, [](const auto& item) {
      for (const Seen& seen : item.second.seen)
        if (seen.storage.expired()) return true;
      return false;
    });
  }

  std::unordered_map<const void*, Entry> entries_;
};

// Kernels may keep scratch memory between calls, so that one call runs at a time. It has all of PyTorch's threads.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

Cache& cache() {
  static Cache* const kept = new Cache;  // never destroyed: PyTorch may be gone by then
  return *kept;
}

union Number {
  double real;
  std::int64_t whole;
  bool truth;
};

Number number_of(const c10::IValue& value, c10::ScalarType type) {
  Number number{};
  if (type == c10::kDouble)
    number.real = value.toDouble();
  else if (type == c10::kLong)
    number.whole = value.toInt();
  else
    number.truth = value.toBool();
  return number;
}

void forward(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  const std::vector<Argument>& arguments = contract::arguments();
  constexpr std::size_t given = contract::kInputs + contract::kWeights;
  const auto values = torch::jit::last(*stack, given);
  std::vector<void*> slots(arguments.size());
  std::vector<Number> numbers(contract::kInputs);
  std::vector<at::Tensor> held, weights, outputs;  // alive until the kernel is done
  bool lies_well = true;
  for (std::size_t i = 0; i < given; ++i) {
    if (arguments[i].role == Role::scalar) {
      numbers[i] = number_of(values[i], arguments[i].type);
      slots[i] = &numbers[i];
      continue;
    }
    at::Tensor tensor = values[i].toTensor();
    check(tensor, arguments[i]);
    if (arguments[i].role == Role::weight) {
      lies_well = lies_well && is_as_wanted(tensor, arguments[i]);
      weights.push_back(std::move(tensor));
      slots[i] = address(weights.back());
    } else {
      held.push_back(as_wanted(tensor, arguments[i]));
      slots[i] = address(held.back());
    }
  }
  for (std::size_t i = given; i < arguments.size(); ++i) {
    outputs.push_back(at::empty_strided(arguments[i].sizes, arguments[i].strides, at::TensorOptions().dtype(arguments[i].type)));
    slots[i] = outputs.back().mutable_data_ptr();
  }

  {
    const std::lock_guard lock(one_at_a_time());
    // The kernel's OpenMP may be another library than PyTorch's, with a number of threads of its own.
    if (const int threads = at::get_num_threads(); omp_get_max_threads() != threads) omp_set_num_threads(threads);
    std::shared_ptr<const Prepared> prepared;
    if (contract::kPrepares || !lies_well) {
      prepared = cache().of(weights);
      for (std::size_t i = 0; i < weights.size(); ++i)
        if (prepared->copies[i].defined()) slots[contract::kInputs + i] = address(prepared->copies[i]);
    }
    kw_call(prepared ? prepared->state : nullptr, slots.data());
  }

  torch::jit::drop(*stack, given);
  for (at::Tensor& output : outputs) stack->emplace_back(std::move(output));
}

void forget() {
  const std::lock_guard lock(one_at_a_time());
  cache().clear();
}

}  // namespace

// The names come from contract.h, and a macro's argument is only replaced on its way into another one.
#define KW_DEFINE(name, library) TORCH_LIBRARY(name, library)
#define KW_IMPLEMENT(name, key, library) TORCH_LIBRARY_IMPL(name, key, library)

KW_DEFINE(KW_NAMESPACE, library) {
  library.def(contract::kSchema);
  library.def("forget() -> ()", &forget);
}
KW_IMPLEMENT(KW_NAMESPACE, CPU, library) { library.impl("forward", torch::CppFunction::makeFromBoxedFunction<&forward>()); }
// For inference: a gradient that is asked for nevertheless is an error, never a zero.
KW_IMPLEMENT(KW_NAMESPACE, Autograd, library) { library.impl("forward", torch::autograd::autogradNotImplementedFallback()); }
