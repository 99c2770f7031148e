#include "vgpu/device_calls.h"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>

#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

constexpr std::size_t kLongestText = 65536;

// Memory that a kernel names, where all of it is readable: of the host, or of the thread's stack.
const std::byte* readable(const Warp& warp, int lane, std::uint64_t address, std::size_t bytes) {
  if ((address & kTagMask) == kLocalTag) {
    const std::uint64_t offset = address & ~kTagMask;
    if (offset + bytes > warp.local_bytes) return nullptr;
    return warp.local.data() + static_cast<std::size_t>(lane) * warp.local_bytes + offset;
  }
  const Allocation* allocation = warp.launch->memory->find(address);
  if (allocation == nullptr) return nullptr;
  const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(allocation->begin);
  return offset + bytes <= allocation->bytes ? allocation->begin + offset : nullptr;
}

std::string text_at(const Warp& warp, int lane, std::uint64_t address) {
  std::string text;
  while (text.size() < kLongestText) {
    const std::byte* at = readable(warp, lane, address + text.size(), 1);
    if (at == nullptr || *at == std::byte{0}) break;
    text.push_back(static_cast<char>(*at));
  }
  return text;
}

std::uint64_t argument(const Warp& warp, const CallSite& site, int lane, std::size_t index) {
  std::uint64_t value = 0;
  const std::byte* stack = warp.local.data() + static_cast<std::size_t>(lane) * warp.local_bytes + warp.frame->local_base;
  std::memcpy(&value, stack + site.arguments[index], std::min<std::size_t>(site.argument_sizes[index], 8));
  return value;
}

void set_result(Warp& warp, const CallSite& site, int lane, std::uint64_t value) {
  if (site.results.empty()) return;
  std::byte* stack = warp.local.data() + static_cast<std::size_t>(lane) * warp.local_bytes + warp.frame->local_base;
  std::memcpy(stack + site.results[0], &value, std::min<std::size_t>(site.result_sizes[0], 8));
}

// One conversion of printf with what stands behind it in the buffer of arguments.
template <typename T>
void print_one(std::string& out, const std::string& format, T value) {
  char text[512];
  const int length =
      std::snprintf(text, sizeof text, format.c_str(), value);  // NOLINT: the format was taken apart and is known to fit
  if (length > 0) out.append(text, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1));
}

// Arguments lie in the buffer as C passes them to a variadic function, each at its own alignment.
std::string formatted(const Warp& warp, int lane, const std::string& format, std::uint64_t buffer, int* printed) {
  std::string out;
  std::uint64_t at = buffer;
  const auto next = [&](std::size_t bytes) {
    at = (at + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    if (const std::byte* from = readable(warp, lane, at, bytes)) std::memcpy(&value, from, bytes);
    at += bytes;
    ++*printed;
    return value;
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    std::string spec = "%";
    std::size_t k = i + 1;
    bool wide = false;
    while (k < format.size() && std::strchr("-+ #0123456789.*hlzjtL", format[k]) != nullptr) {
      if (format[k] == '*') {
        spec += std::to_string(static_cast<std::int32_t>(next(4)));
      } else if (std::strchr("hlzjtL", format[k]) != nullptr) {
        wide = wide || std::strchr("lzjt", format[k]) != nullptr;
      } else if (spec.size() < 24) {
        spec.push_back(format[k]);
      }
      ++k;
    }
    if (k >= format.size()) break;
    const char kind = format[k];
    i = k;
    if (std::strchr("di", kind) != nullptr) {
      print_one(out, spec + "ll" + kind,
                wide ? static_cast<long long>(next(8)) : static_cast<long long>(static_cast<std::int32_t>(next(4))));
    } else if (std::strchr("uxXo", kind) != nullptr) {
      print_one(out, spec + "ll" + kind, static_cast<unsigned long long>(next(wide ? 8 : 4)));
    } else if (kind == 'c') {
      print_one(out, spec + "c", static_cast<int>(next(4)));
    } else if (std::strchr("fFeEgGaA", kind) != nullptr) {
      print_one(out, spec + kind, std::bit_cast<double>(next(8)));
    } else if (kind == 'p') {
      print_one(out, spec + "p", reinterpret_cast<void*>(next(8)));
    } else if (kind == 's') {
      const std::string text = text_at(warp, lane, next(8));
      spec == "%" ? out.append(text) : (print_one(out, spec + "s", text.c_str()), out);
    }
  }
  return out;
}

}  // namespace

bool call_builtin(Warp& warp, const Instruction& instruction, const CallSite& site, std::uint32_t mask) {
  Launch& launch = *warp.launch;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    switch (site.builtin) {
      case Builtin::vprintf: {
        int printed = 0;
        const std::string text =
            formatted(warp, lane, text_at(warp, lane, argument(warp, site, lane, 0)), argument(warp, site, lane, 1), &printed);
        const std::lock_guard lock(launch.print_mutex);
        if (launch.print) {
          launch.print(text);
        } else {
          std::fwrite(text.data(), 1, text.size(), stdout);
        }
        set_result(warp, site, lane, static_cast<std::uint64_t>(printed));
        break;
      }
      case Builtin::assertfail: {
        const std::string what = text_at(warp, lane, argument(warp, site, lane, 0));
        const std::string file = text_at(warp, lane, argument(warp, site, lane, 1));
        const std::string function = text_at(warp, lane, argument(warp, site, lane, 3));
        launch.report("assert", warp, instruction, lane,
                      fmt::format("{}:{}: {}: assertion `{}` failed", file,
                                  static_cast<std::uint32_t>(argument(warp, site, lane, 2)), function, what),
                      {}, true);
        return false;
      }
      case Builtin::malloc: {
        const std::uint64_t bytes = argument(warp, site, lane, 0);
        std::uint64_t place = 0;
        if (bytes != 0 && bytes <= launch.heap_limit && launch.memory->in_use() < launch.options.limits.global_bytes) {
          if (auto made = launch.memory->allocate(bytes, "malloc in a kernel", launch.options.limits.global_bytes)) {
            place = reinterpret_cast<std::uint64_t>(made.value());
          }
        }
        set_result(warp, site, lane, place);
        break;
      }
      case Builtin::free: {
        const std::uint64_t place = argument(warp, site, lane, 0);
        if (place == 0) break;
        if (auto freed = launch.memory->release(reinterpret_cast<void*>(place)); !freed) {
          launch.report("out_of_bounds", warp, instruction, lane, "free: " + freed.error().message, {}, true);
          return false;
        }
        break;
      }
      default:
        break;
    }
  }
  return true;
}

}  // namespace kw::vgpu
