#include "runner/protocol.h"

namespace kw::runner {

NLOHMANN_JSON_SERIALIZE_ENUM(Role,
                             {{Role::input, "input"}, {Role::weight, "weight"}, {Role::output, "output"}, {Role::scalar, "scalar"}})

KW_JSON_FIELDS(Argument, name, role, bytes, region, lead, poison)
KW_JSON_FIELDS(GpuSpec, library, gpu, checks, counters, threads, launch_seconds, sample_seconds, facts, seed, real, device,
               flush_bytes)
KW_JSON_FIELDS(Spec, object, threads, has_prepare, guarded, shared_inputs, slots, out_slots, arguments, gpu, opencl)

namespace {
bool changes_with_slot(const Argument& argument) { return argument.role == Role::input || argument.role == Role::scalar; }
}  // namespace

std::uint64_t data_offset(const Spec& spec, std::size_t index, int slot) {
  std::uint64_t weights = 0, per_slot = 0, before = 0;
  const bool in_slot = changes_with_slot(spec.arguments[index]);
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const auto& argument = spec.arguments[i];
    const bool is_weight = argument.role == Role::weight;
    if (i < index && (in_slot ? changes_with_slot(argument) : is_weight)) before += argument.region;
    if (is_weight) weights += argument.region;
    if (changes_with_slot(argument)) per_slot += argument.region;
  }
  return in_slot ? weights + per_slot * static_cast<std::uint64_t>(slot) + before : before;
}

std::uint64_t data_bytes(const Spec& spec) {
  std::uint64_t weights = 0, per_slot = 0;
  for (const auto& argument : spec.arguments) {
    if (argument.role == Role::weight) weights += argument.region;
    if (changes_with_slot(argument)) per_slot += argument.region;
  }
  return weights + per_slot * static_cast<std::uint64_t>(spec.slots);
}

}  // namespace kw::runner
