#include "dsl/session_files.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kAlignment = 64;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

runner::Argument argument_of(const TensorSpec& spec, Placement placement) {
  runner::Argument argument;
  argument.name = spec.name;
  switch (spec.kind) {
    case TensorKind::input:
      argument.role = runner::Role::input;
      break;
    case TensorKind::scalar:
      argument.role = runner::Role::scalar;
      break;
    case TensorKind::output:
      argument.role = runner::Role::output;
      break;
    default:
      argument.role = runner::Role::weight;
      break;
  }
  argument.bytes = spec.kind == TensorKind::scalar ? 8 : spec.span_bytes();
  argument.region = std::max(round_up(argument.bytes, kPageBytes), kPageBytes);
  argument.lead = placement == Placement::tail ? argument.region - round_up(argument.bytes, kAlignment) : 0;
  argument.poison = poison_word(spec.dtype);
  return argument;
}

SessionFiles::File::~File() {
  if (begin != nullptr) ::munmap(begin, bytes);
  if (read_only >= 0) ::close(read_only);
}

void SessionFiles::File::swap(File& other) noexcept {
  std::swap(read_only, other.read_only);
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
}

Status SessionFiles::File::open(const char* name, std::uint64_t size) {
  bytes = std::max<std::uint64_t>(size, 1);
  KW_TRY(const int descriptor, memory_file(name, bytes));
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  auto again = read_only_again(descriptor);
  ::close(descriptor);
  if (mapped != MAP_FAILED) begin = static_cast<std::byte*>(mapped);
  if (!again) return again.error();
  read_only = *again;
  if (begin == nullptr) return internal_error(fmt::format("no memory for {} bytes of tensors", size));
  return {};
}

Result<SessionFiles> SessionFiles::make(const runner::Spec& spec, int sets) {
  SessionFiles files;
  KW_CHECK(files.weights_.open("kw-weights", runner::weights_bytes(spec)));
  if (const std::uint64_t bytes = runner::inputs_bytes(spec); bytes > 0) {
    files.inputs_.resize(static_cast<std::size_t>(sets));
    for (File& file : files.inputs_) KW_CHECK(file.open("kw-inputs", bytes));
  }
  return files;
}

std::byte* SessionFiles::region(const runner::Spec& spec, std::size_t argument, int set) const {
  const bool comes = runner::is_input(spec.arguments[argument]);
  if (comes && inputs_.empty()) return weights_.begin;  // all of them are empty
  return (comes ? inputs_[static_cast<std::size_t>(set)] : weights_).begin + runner::file_offset(spec, argument);
}

int SessionFiles::inputs(int set) const { return inputs_.empty() ? -1 : inputs_[static_cast<std::size_t>(set)].read_only; }

void send_order(int socket, const std::string& text, int descriptor) {
  alignas(cmsghdr) char extra[CMSG_SPACE(sizeof(int))] = {};
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = extra;
    header.msg_controllen = sizeof extra;
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &descriptor, sizeof descriptor);
  }
  (void)::sendmsg(socket, &header, MSG_NOSIGNAL);
}

}  // namespace kw
