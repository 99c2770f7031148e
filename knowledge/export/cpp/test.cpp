// The kernel against elements of the float64 reference, for inputs and weights that a formula gives; with one thread and with all.
#include <@name@.h>

#include <omp.h>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "expected.h"

namespace {

int failures = 0;

// Numbers from 0 to 1, the same everywhere: splitmix64 over the tensor's number and the element's.
double uniform(std::uint64_t tensor, std::uint64_t element) {
  std::uint64_t z = (element + 1) * 0x9E3779B97F4A7C15u + (tensor + 1) * 0xD1342543DE82EF95u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

struct Memory {
  explicit Memory(std::size_t bytes) : bytes_(bytes + 64), room_(bytes_ + 64) {}
  unsigned char* begin() { return room_.data() + (64 - reinterpret_cast<std::uintptr_t>(room_.data()) % 64) % 64; }
  std::size_t bytes_;
  std::vector<unsigned char> room_;
};

double value_of(std::uint64_t tensor, std::uint64_t element, const expected::Range& range) {
  const double u = uniform(tensor, element);
  return range.whole ? range.low + std::floor(u * (range.high - range.low + 1)) : range.low + (range.high - range.low) * u;
}

std::uint16_t bf16_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

void fill(Memory& memory, std::uint64_t tensor, const expected::Range& range) {
  for (std::int64_t i = 0; i < range.count; ++i) {
    const double value = value_of(tensor, static_cast<std::uint64_t>(i), range);
    unsigned char* to = memory.begin() + static_cast<std::size_t>(i) * range.size;
    const auto put = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
    switch (range.type) {
      case 'f': put(static_cast<float>(value)); break;
      case 'd': put(value); break;
      case 'h': put(static_cast<_Float16>(static_cast<float>(value))); break;
      case 'b': put(bf16_of(static_cast<float>(value))); break;
      case '?': put(uniform(tensor, static_cast<std::uint64_t>(i)) < 0.5); break;
      case 'u': put(static_cast<std::uint8_t>(value)); break;
      case '1': put(static_cast<std::int8_t>(value)); break;
      case '2': put(static_cast<std::int16_t>(value)); break;
      case '4': put(static_cast<std::int32_t>(value)); break;
      default: put(static_cast<std::int64_t>(value)); break;
    }
  }
}

double read(Memory& memory, char type, std::int64_t place) {
  const auto get = [&](auto typed) {
    std::memcpy(&typed, memory.begin() + static_cast<std::size_t>(place) * sizeof typed, sizeof typed);
    return static_cast<double>(typed);
  };
  switch (type) {
    case 'f': return get(float{});
    case 'd': return get(double{});
    case 'h': return get(_Float16{});
    case '?': return get(bool{});
    case 'u': return get(std::uint8_t{});
    case '1': return get(std::int8_t{});
    case '2': return get(std::int16_t{});
    case '4': return get(std::int32_t{});
    case 'b': {
      std::uint16_t bits;
      std::memcpy(&bits, memory.begin() + place * 2, 2);
      const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
      float value;
      std::memcpy(&value, &wide, 4);
      return value;
    }
    default: return get(std::int64_t{});
  }
}

void compare(const expected::Output& wanted, Memory& memory, int threads) {
  for (const expected::Element& element : wanted.elements) {
    const double got = read(memory, wanted.type, element.place);
    if (std::fabs(got - element.value) <= element.tolerance) continue;
    if (++failures <= 10)
      std::printf("%s[%lld] is %.9g, should be %.9g within %.2g (%d threads)\n", wanted.name, static_cast<long long>(element.place), got,
                  element.value, element.tolerance, threads);
  }
}

}  // namespace

int main() {
  std::vector<Memory> given, written;
  for (std::size_t i = 0; i < expected::given.size(); ++i) {
    given.emplace_back(static_cast<std::size_t>(expected::given[i].count) * expected::given[i].size);
    fill(given.back(), i, expected::given[i]);
  }
  for (const expected::Output& output : expected::outputs) written.emplace_back(output.bytes);
  const @name@::Kernel kernel(@name@::Weights{@test_weights@});
  const int all = omp_get_max_threads();
  for (const int threads : {1, all, all + 1}) {
    omp_set_num_threads(threads);
    for (Memory& memory : written) std::memset(memory.begin(), 0xff, memory.bytes_);  // NaN: what is never written shows
    kernel({@test_inputs@}, {@test_outputs@});
    for (std::size_t i = 0; i < written.size(); ++i) compare(expected::outputs[i], written[i], threads);
  }
  bool refused = false;
  try {
    kernel({@test_inputs@}, {@misaligned_outputs@});
  } catch (const std::exception&) {
    refused = true;
  }
  if (!refused) ++failures, std::puts("a pointer that is not aligned was taken");
  std::printf("%s\n", failures == 0 ? "passed" : "failed");
  return failures == 0 ? 0 : 1;
}
