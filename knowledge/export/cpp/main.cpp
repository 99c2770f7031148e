// How the kernel is called: memory that is aligned, the weights once, then calls. Prints what a call takes.
#include <@name@.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Room for `count` elements at an address that the kernel takes, all zero.
template <typename T>
std::unique_ptr<T[], Free> aligned(std::int64_t count) {
  const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) / @name@::alignment + 1) * @name@::alignment;
  auto* memory = static_cast<unsigned char*>(std::aligned_alloc(@name@::alignment, bytes));
  if (memory == nullptr) std::abort();
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = 0;
  return std::unique_ptr<T[], Free>(reinterpret_cast<T*>(memory));
}

}  // namespace

int main(int count, char** words) {
@buffers@
  const @name@::Kernel kernel(@name@::Weights{@weight_names@});
  const int calls = count > 1 ? std::atoi(words[1]) : 20;
  double best = 1e30;
  for (int call = 0; call < calls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    kernel({@input_names@}, {@output_names@});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (took.count() < best) best = took.count();
  }
  std::printf("%.3f ms a call, the best of %d\n", best * 1e3, calls);
}
