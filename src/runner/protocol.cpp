#include "runner/protocol.h"

namespace kw::runner {

NLOHMANN_JSON_SERIALIZE_ENUM(Role,
                             {{Role::input, "input"}, {Role::weight, "weight"}, {Role::output, "output"}, {Role::scalar, "scalar"}})

KW_JSON_FIELDS(Argument, name, role, bytes, region, lead, poison)
KW_JSON_FIELDS(GpuSpec, library, gpu, checks, counters, threads, launch_seconds, sample_seconds, facts, seed, real, device,
               flush_bytes)
KW_JSON_FIELDS(Spec, object, threads, has_prepare, guarded, shared_weights, out_slots, arguments, gpu, opencl)

bool is_input(const Argument& argument) { return argument.role == Role::input || argument.role == Role::scalar; }

namespace {

bool same_file(const Argument& a, const Argument& b) {
  return is_input(a) ? is_input(b) : a.role == Role::weight && b.role == Role::weight;
}

}  // namespace

std::uint64_t file_offset(const Spec& spec, std::size_t index) {
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < index; ++i)
    if (same_file(spec.arguments[index], spec.arguments[i])) before += spec.arguments[i].region;
  return before;
}

std::uint64_t weights_bytes(const Spec& spec) {
  std::uint64_t bytes = 0;
  for (const auto& argument : spec.arguments)
    if (argument.role == Role::weight) bytes += argument.region;
  return bytes;
}

std::uint64_t inputs_bytes(const Spec& spec) {
  std::uint64_t bytes = 0;
  for (const auto& argument : spec.arguments)
    if (is_input(argument)) bytes += argument.region;
  return bytes;
}

}  // namespace kw::runner
