#include "dsl/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace kw {

Result<int> memory_file(const char* name, std::uint64_t bytes) {
  const int descriptor = ::memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0) return internal_error(fmt::format("memfd_create: {}", std::strerror(errno)));
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    Error error = internal_error(fmt::format("no memory for {} bytes of tensors: {}", bytes, std::strerror(errno)));
    ::close(descriptor);
    return error;
  }
  return descriptor;
}

Result<int> read_only_again(int descriptor) {
  const int again = ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDONLY | O_CLOEXEC);
  if (again < 0) return internal_error(fmt::format("cannot reopen a memory file: {}", std::strerror(errno)), "is /proc mounted?");
  return again;
}

}  // namespace kw
