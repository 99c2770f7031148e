#include "runner/buffers.h"

#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace kw::runner {
namespace {

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

Result<char*> from_file(const Argument& argument, int descriptor, std::uint64_t offset, bool shared) {
  if (argument.region == 0) return reserve(argument);
  if (shared) {
    KW_TRY(char* at, reserve(argument));
    if (::mmap(at, argument.region, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor, static_cast<off_t>(offset)) ==
        MAP_FAILED)
      return cannot("cannot map", argument);
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
  buffers.weights_.assign(count, nullptr);
  buffers.inputs_.assign(static_cast<std::size_t>(spec.slots), std::vector<char*>(count, nullptr));
  buffers.outputs_.assign(static_cast<std::size_t>(spec.out_slots), std::vector<char*>(count, nullptr));
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& argument = spec.arguments[i];
    switch (argument.role) {
      case Role::weight: {
        KW_TRY(buffers.weights_[i], from_file(argument, data_descriptor, data_offset(spec, i, 0), spec.shared_inputs));
        break;
      }
      case Role::output:
        for (auto& slot : buffers.outputs_) {
          KW_TRY(slot[i], writable(argument));
        }
        break;
      case Role::input:
      case Role::scalar:
        for (int slot = 0; slot < spec.slots; ++slot) {
          KW_TRY(buffers.inputs_[static_cast<std::size_t>(slot)][i],
                 from_file(argument, data_descriptor, data_offset(spec, i, slot), spec.shared_inputs));
        }
        break;
    }
  }
  for (int slot = 0; slot < spec.out_slots; ++slot) buffers.poison(slot);
  return buffers;
}

char* Buffers::region(std::size_t argument, int slot, int out_slot) const {
  switch (spec_.arguments[argument].role) {
    case Role::weight:
      return weights_[argument];
    case Role::output:
      return outputs_[static_cast<std::size_t>(out_slot)][argument];
    default:
      return inputs_[static_cast<std::size_t>(slot)][argument];
  }
}

std::vector<void*> Buffers::arguments(int slot, int out_slot) const {
  std::vector<void*> all;
  for (std::size_t i = 0; i < spec_.arguments.size(); ++i) all.push_back(region(i, slot, out_slot) + spec_.arguments[i].lead);
  return all;
}

void Buffers::poison(int out_slot) const {
  for (std::size_t i = 0; i < spec_.arguments.size(); ++i) {
    const Argument& argument = spec_.arguments[i];
    if (argument.role != Role::output) continue;
    auto* words = reinterpret_cast<std::uint64_t*>(region(i, 0, out_slot));
    for (std::uint64_t word = 0; word < argument.region / 8; ++word) words[word] = argument.poison;
  }
}

}  // namespace kw::runner
