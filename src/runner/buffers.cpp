#include "runner/buffers.h"

#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace kw::runner {
namespace {

constexpr int kShown = MAP_SHARED | MAP_FIXED | MAP_POPULATE;

Error cannot(const char* what, const Argument& argument) {
  return internal_error(std::string(what) + " for '" + argument.name + "': " + std::strerror(errno));
}

// Address space for a region with guards; returns the region's first byte.
Result<char*> reserve(const Argument& argument) {
  void* all = ::mmap(nullptr, argument.region + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return cannot("no address space", argument);
  return static_cast<char*>(all) + kGuardBytes;
}

Result<char*> writable(const Argument& argument) {
  KW_TRY(char* at, reserve(argument));
  if (argument.region == 0) return at;
  if (::mmap(at, argument.region, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0) ==
      MAP_FAILED)
    return cannot("no memory", argument);
  return at;
}

Status show_file(const Argument& argument, char* at, int descriptor, std::uint64_t offset) {
  if (argument.region > 0 && ::mmap(at, argument.region, PROT_READ, kShown, descriptor, static_cast<off_t>(offset)) == MAP_FAILED)
    return cannot("cannot map", argument);
  return {};
}

Status show_zeros(const Argument& argument, char* at) {
  if (argument.region > 0 &&
      ::mmap(at, argument.region, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    return cannot("no address space", argument);
  return {};
}

Result<char*> from_file(const Argument& argument, int descriptor, std::uint64_t offset, bool shared) {
  if (argument.region == 0) return reserve(argument);
  if (shared) {
    KW_TRY(char* at, reserve(argument));
    KW_CHECK(show_file(argument, at, descriptor, offset));
    return at;
  }
  KW_TRY(char* at, writable(argument));
  for (std::uint64_t done = 0; done < argument.region;) {
    const ssize_t got = ::pread(descriptor, at + done, argument.region - done, static_cast<off_t>(offset + done));
    if (got <= 0) return cannot("cannot read the data", argument);
    done += static_cast<std::uint64_t>(got);
  }
  if (::mprotect(at, argument.region, PROT_READ) != 0) return cannot("cannot protect", argument);
  return at;
}

}  // namespace

Result<Buffers> Buffers::map(const Spec& spec, int data_descriptor) {
  Buffers buffers(spec);
  const std::size_t count = spec.arguments.size();
  buffers.given_.assign(count, nullptr);
  buffers.outputs_.assign(static_cast<std::size_t>(spec.out_slots), std::vector<char*>(count, nullptr));
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& argument = spec.arguments[i];
    switch (argument.role) {
      case Role::weight: {
        KW_TRY(buffers.given_[i], from_file(argument, data_descriptor, file_offset(spec, i), spec.shared_weights));
        break;
      }
      case Role::output:
        for (auto& slot : buffers.outputs_) {
          KW_TRY(slot[i], writable(argument));
        }
        break;
      case Role::input:
      case Role::scalar:
        KW_TRY(buffers.given_[i], reserve(argument));
        break;
    }
  }
  KW_CHECK(buffers.take_away());
  for (int slot = 0; slot < spec.out_slots; ++slot) buffers.poison(slot);
  return buffers;
}

Status Buffers::bring(int inputs_descriptor) const {
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (is_input(spec_.arguments[i])) KW_CHECK(show_file(spec_.arguments[i], given_[i], inputs_descriptor, file_offset(spec_, i)));
  return {};
}

Status Buffers::take_away() const {
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (is_input(spec_.arguments[i])) KW_CHECK(show_zeros(spec_.arguments[i], given_[i]));
  return {};
}

std::vector<Place> Buffers::input_places() const {
  std::vector<Place> places;
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (is_input(spec_.arguments[i])) places.push_back({given_[i], spec_.arguments[i].region, file_offset(spec_, i)});
  return places;
}

char* Buffers::region(std::size_t argument, int out_slot) const {
  return spec_.arguments[argument].role == Role::output ? outputs_[static_cast<std::size_t>(out_slot)][argument] : given_[argument];
}

std::vector<void*> Buffers::arguments(int out_slot) const {
  std::vector<void*> all;
  for (std::size_t i = 0; i < spec_.arguments.size(); ++i) all.push_back(region(i, out_slot) + spec_.arguments[i].lead);
  return all;
}

void Buffers::poison(int out_slot) const {
  for (std::size_t i = 0; i < spec_.arguments.size(); ++i) {
    const Argument& argument = spec_.arguments[i];
    if (argument.role != Role::output) continue;
    auto* words = reinterpret_cast<std::uint64_t*>(region(i, out_slot));
    for (std::uint64_t word = 0; word < argument.region / 8; ++word) words[word] = argument.poison;
  }
}

}  // namespace kw::runner
