#include "machine/machine_cache.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kw {
namespace {

bool is_rate(double value) { return std::isfinite(value) && value > 0; }

template <typename Entries>
bool covers(const Entries& entries, int threads) {
  return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.threads == threads; });
}

}  // namespace

Status check_machine(const Machine& machine) {
  if (machine.cores < 1) return bad_input(fmt::format("{} cores", machine.cores));
  for (const FmaPeak& peak : machine.peaks)
    if (!is_rate(peak.gflops)) return bad_input(fmt::format("a peak of {} GFLOP/s for {}", peak.gflops, peak.isa));
  for (const BandwidthPoint& point : machine.bandwidth)
    if (!is_rate(point.gbytes_per_second) || !is_rate(point.working_set_bytes))
      return bad_input(fmt::format("{} GB/s for {} of {} bytes", point.gbytes_per_second, point.pattern, point.working_set_bytes));
  for (const int threads : {1, machine.cores})
    if (!covers(machine.peaks, threads) || !covers(machine.bandwidth, threads))
      return bad_input(fmt::format("no ceilings for {} threads", threads));
  if (!is_rate(machine.openmp_region_seconds))
    return bad_input(fmt::format("a parallel region of {} s", machine.openmp_region_seconds));
  return {};
}

Result<Machine> read_machine(const fs::path& file, std::string_view id) {
  KW_TRY(const std::string text, read_file(file));
  KW_TRY(const Json json, parse_json(text, file.string()));
  KW_TRY(Machine machine, read_fields(file.string(), [&] { return json.get<Machine>(); }));
  if (machine.id != id) return bad_input(fmt::format("{} is of another machine ({})", file.string(), machine.id));
  if (Status sound = check_machine(machine); !sound)
    return bad_input(fmt::format("{} is not sound: {}", file.string(), sound.error().message));
  return machine;
}

Result<Machine> machine_of(const CpuInfo& cpu, const MachineRequest& request) {
  const auto tell = [&](const std::string& message) {
    if (request.progress) request.progress(message);
  };
  const std::string id = machine_id(cpu);
  const fs::path file = request.folder / "machines" / (id + ".json");
  const auto is_there = [&] {
    std::error_code ignored;
    return fs::exists(file, ignored);
  };
  if (!request.refresh && is_there()) {
    Result<Machine> kept = read_machine(file, id);
    if (kept) return kept;
    tell(kept.error().message + "; measuring again");
  }
  KW_TRY(const MachineLock lock, MachineLock::acquire(request.wait, request.folder));
  // Another process may have measured while this one waited.
  if (!request.refresh && is_there())
    if (Result<Machine> kept = read_machine(file, id)) return kept;
  KW_TRY(Machine machine, request.probe(cpu, request.progress));
  if (Status sound = check_machine(machine); !sound)
    return internal_error("the measured ceilings are not sound: " + sound.error().message, "try again on a quieter machine");
  Status kept = make_folders(file.parent_path());
  if (kept) kept = write_file_atomically(file, Json(machine).dump(2) + "\n");
  // What was measured is good without the file; it only has to be measured again next time.
  if (!kept) tell("the machine's ceilings are not kept: " + kept.error().message);
  return machine;
}

Result<Machine> this_machine(const MachineRequest& request) { return machine_of(detect_cpu(), request); }

}  // namespace kw
