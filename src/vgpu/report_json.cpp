#include "vgpu/report_json.h"

#include <sstream>

namespace kw::vgpu {
namespace {

struct CounterField {
  const char* name;
  std::uint64_t LineCounters::*member;
};

constexpr CounterField kCounterFields[] = {
    {"warp_instructions", &LineCounters::warp_instructions},
    {"lane_instructions", &LineCounters::lane_instructions},
    {"flops_fp32", &LineCounters::flops_fp32},
    {"flops_fp64", &LineCounters::flops_fp64},
    {"flops_fp16", &LineCounters::flops_fp16},
    {"flops_tensor", &LineCounters::flops_tensor},
    {"special_functions", &LineCounters::special_functions},
    {"global_load_requests", &LineCounters::global_load_requests},
    {"global_load_sectors", &LineCounters::global_load_sectors},
    {"global_load_bytes", &LineCounters::global_load_bytes},
    {"global_store_requests", &LineCounters::global_store_requests},
    {"global_store_sectors", &LineCounters::global_store_sectors},
    {"global_store_bytes", &LineCounters::global_store_bytes},
    {"l1_hits", &LineCounters::l1_hits},
    {"l1_misses", &LineCounters::l1_misses},
    {"l2_hits", &LineCounters::l2_hits},
    {"l2_misses", &LineCounters::l2_misses},
    {"dram_bytes", &LineCounters::dram_bytes},
    {"local_requests", &LineCounters::local_requests},
    {"local_bytes", &LineCounters::local_bytes},
    {"shared_load_requests", &LineCounters::shared_load_requests},
    {"shared_store_requests", &LineCounters::shared_store_requests},
    {"shared_bytes", &LineCounters::shared_bytes},
    {"shared_wavefronts", &LineCounters::shared_wavefronts},
    {"shared_conflicts", &LineCounters::shared_conflicts},
    {"constant_requests", &LineCounters::constant_requests},
    {"async_copy_bytes", &LineCounters::async_copy_bytes},
    {"atomics", &LineCounters::atomics},
    {"atomic_lanes", &LineCounters::atomic_lanes},
    {"barriers", &LineCounters::barriers},
    {"branches", &LineCounters::branches},
    {"divergent_branches", &LineCounters::divergent_branches},
};

// In the order of enum Pipe.
constexpr const char* kPipeNames[kPipes] = {"control", "integer",    "fp32",   "fp64",   "fp16",
                                            "special", "conversion", "tensor", "memory", "move"};

}  // namespace

void to_json(Json& json, const Dim3& dim) { json = {dim.x, dim.y, dim.z}; }
void from_json(const Json& json, Dim3& dim) {
  dim = {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(), json.at(2).get<std::uint32_t>()};
}

void to_json(Json& json, const Finding& finding) {
  json = {{"kind", finding.kind},   {"message", finding.message}, {"kernel", finding.kernel},
          {"file", finding.file},   {"line", finding.line},       {"ptx_line", finding.ptx_line},
          {"block", finding.block}, {"thread", finding.thread},   {"allocation", finding.allocation},
          {"count", finding.count}, {"fatal", finding.fatal}};
}
void from_json(const Json& json, Finding& finding) {
  json.at("kind").get_to(finding.kind);
  json.at("message").get_to(finding.message);
  json.at("kernel").get_to(finding.kernel);
  json.at("file").get_to(finding.file);
  json.at("line").get_to(finding.line);
  json.at("ptx_line").get_to(finding.ptx_line);
  json.at("block").get_to(finding.block);
  json.at("thread").get_to(finding.thread);
  json.at("allocation").get_to(finding.allocation);
  json.at("count").get_to(finding.count);
  json.at("fatal").get_to(finding.fatal);
}

void to_json(Json& json, const LineCounters& counters) {
  json = Json::object();
  for (const CounterField& field : kCounterFields)
    if (counters.*field.member != 0) json[field.name] = counters.*field.member;
  for (int pipe = 0; pipe < kPipes; ++pipe)
    if (counters.issued[static_cast<std::size_t>(pipe)] != 0)
      json["issued"][kPipeNames[pipe]] = counters.issued[static_cast<std::size_t>(pipe)];
}
void from_json(const Json& json, LineCounters& counters) {
  for (const CounterField& field : kCounterFields)
    if (const auto found = json.find(field.name); found != json.end()) found->get_to(counters.*field.member);
  if (const auto issued = json.find("issued"); issued != json.end())
    for (int pipe = 0; pipe < kPipes; ++pipe)
      if (const auto found = issued->find(kPipeNames[pipe]); found != issued->end())
        found->get_to(counters.issued[static_cast<std::size_t>(pipe)]);
}

void to_json(Json& json, const Counters& counters) {
  to_json(json, static_cast<const LineCounters&>(counters));
  json["blocks"] = counters.blocks;
  json["warps"] = counters.warps;
  json["threads"] = counters.threads;
  json["lines"] = Json::array();
  for (const auto& [place, line] : counters.lines) {
    Json entry = line;
    entry["file"] = place.first;
    entry["line"] = place.second;
    json["lines"].push_back(std::move(entry));
  }
}
void from_json(const Json& json, Counters& counters) {
  from_json(json, static_cast<LineCounters&>(counters));
  json.at("blocks").get_to(counters.blocks);
  json.at("warps").get_to(counters.warps);
  json.at("threads").get_to(counters.threads);
  for (const Json& entry : json.at("lines"))
    counters.lines[{entry.at("file").get<std::string>(), entry.at("line").get<int>()}] = entry.get<LineCounters>();
}

void to_json(Json& json, const LaunchRecord& record) {
  json = {{"index", record.index},
          {"kernel", record.kernel},
          {"grid", record.grid},
          {"block", record.block},
          {"dynamic_shared", record.dynamic_shared},
          {"static_shared", record.static_shared},
          {"local_bytes", record.local_bytes},
          {"registers", record.registers},
          {"tensor_kind", record.tensor_kind},
          {"host_seconds", record.report.seconds},
          {"blocks", record.report.blocks},
          {"blocks_run", record.report.blocks_run},
          {"findings", record.report.findings},
          {"counters", record.report.counters}};
}
void from_json(const Json& json, LaunchRecord& record) {
  json.at("index").get_to(record.index);
  json.at("kernel").get_to(record.kernel);
  json.at("grid").get_to(record.grid);
  json.at("block").get_to(record.block);
  json.at("dynamic_shared").get_to(record.dynamic_shared);
  json.at("static_shared").get_to(record.static_shared);
  json.at("local_bytes").get_to(record.local_bytes);
  json.at("registers").get_to(record.registers);
  json.at("tensor_kind").get_to(record.tensor_kind);
  json.at("host_seconds").get_to(record.report.seconds);
  json.at("blocks").get_to(record.report.blocks);
  json.at("blocks_run").get_to(record.report.blocks_run);
  json.at("findings").get_to(record.report.findings);
  json.at("counters").get_to(record.report.counters);
}

Result<ProgramReport> parse_program_report(const std::string& lines) {
  ProgramReport report;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    KW_TRY(const Json json, parse_json(line, "the program's report"));
    const auto take = [&] {
      const auto event = json.at("event").get<std::string>();
      if (event == "launch") {
        report.launches.push_back(json.get<LaunchRecord>());
        const auto& findings = report.launches.back().report.findings;
        report.findings.insert(report.findings.end(), findings.begin(), findings.end());
      } else if (event == "finding") {
        report.findings.push_back(json.at("finding").get<Finding>());
      } else if (event == "moved") {
        ++report.moves;
        report.moved_bytes += json.at("bytes").get<std::uint64_t>();
      } else {
        report.errors.push_back(json.at("message").get<std::string>());
      }
      return true;
    };
    KW_TRY([[maybe_unused]] const bool taken, read_fields("the program's report", take));
  }
  return report;
}

}  // namespace kw::vgpu
