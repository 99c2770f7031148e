#include "vgpu/gpu_sheet.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "base/files.h"
#include "base/json.h"

namespace kw::vgpu {

// Generated from knowledge/gpus, see cmake/EmbedTexts.cmake.
extern const std::string_view kSheetTexts[];
extern const std::size_t kSheetCount;

namespace {

const std::set<std::string, std::less<>> kPeakNames = {"fp32",        "fp64",        "fp16",       "tensor_fp16", "tensor_bf16",
                                                       "tensor_tf32", "tensor_fp64", "tensor_fp8", "tensor_int8"};
const std::set<std::string, std::less<>> kLatencyNames = {"shared", "l1", "l2", "memory"};

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

bool read_capability(std::string_view text, GpuSheet& sheet) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const auto number = [](std::string_view digits, int& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  return number(text.substr(0, dot), sheet.cc_major) && number(text.substr(dot + 1), sheet.cc_minor);
}

GpuSheet read_sheet_fields(const Json& json) {
  GpuSheet sheet;
  const auto get = [](const Json& from, const char* key, auto& value) { from.at(key).get_to(value); };
  get(json, "id", sheet.id);
  get(json, "name", sheet.name);
  get(json, "architecture", sheet.architecture);
  get(json, "sources", sheet.sources);
  get(json, "sm_count", sheet.sm_count);
  get(json, "base_clock_mhz", sheet.base_clock_mhz);
  get(json, "boost_clock_mhz", sheet.boost_clock_mhz);
  get(json, "memory_bytes", sheet.memory_bytes);
  get(json, "memory_type", sheet.memory_type);
  get(json, "memory_gb_per_s", sheet.memory_gb_per_s);
  get(json, "memory_bus_bits", sheet.memory_bus_bits);
  get(json, "l2_bytes", sheet.l2_bytes);
  if (const Json& rate = json.at("l2_bytes_per_clock"); !rate.is_null()) sheet.l2_bytes_per_clock = rate.get<double>();
  const Json& sm = json.at("per_sm");
  get(sm, "l1_and_shared_bytes", sheet.per_sm.l1_and_shared_bytes);
  get(sm, "shared_bytes", sheet.per_sm.shared_bytes);
  get(sm, "shared_bytes_per_block", sheet.per_sm.shared_bytes_per_block);
  get(sm, "shared_bytes_per_block_optin", sheet.per_sm.shared_bytes_per_block_optin);
  get(sm, "shared_reserved_per_block", sheet.per_sm.shared_reserved_per_block);
  get(sm, "shared_allocation_unit", sheet.per_sm.shared_allocation_unit);
  get(sm, "shared_bytes_per_clock", sheet.per_sm.shared_bytes_per_clock);
  get(sm, "registers", sheet.per_sm.registers);
  get(sm, "registers_per_block", sheet.per_sm.registers_per_block);
  get(sm, "registers_per_thread", sheet.per_sm.registers_per_thread);
  get(sm, "register_allocation_unit", sheet.per_sm.register_allocation_unit);
  get(sm, "threads", sheet.per_sm.threads);
  get(sm, "blocks", sheet.per_sm.blocks);
  get(sm, "schedulers", sheet.per_sm.schedulers);
  const Json& rates = json.at("results_per_clock_per_sm");
  get(rates, "fp32", sheet.rates.fp32);
  get(rates, "fp64", sheet.rates.fp64);
  get(rates, "fp16", sheet.rates.fp16);
  get(rates, "int32", sheet.rates.int32);
  get(rates, "special", sheet.rates.special);
  get(json, "peak_tflops", sheet.peak_tflops);
  get(json, "latency_cycles", sheet.latency_cycles);
  return sheet;
}

// A figure that cannot be: the first one, in words; empty where all can.
std::string impossible_figure(const GpuSheet& sheet) {
  if (sheet.id.empty() || sheet.id != plain_name(sheet.id)) return "id '" + sheet.id + "' is not made of small letters and digits";
  if (sheet.sources.empty()) return "sources is empty: a figure needs its source";
  const std::pair<const char*, double> positive[] = {
      {"sm_count", sheet.sm_count},
      {"base_clock_mhz", sheet.base_clock_mhz},
      {"boost_clock_mhz", sheet.boost_clock_mhz},
      {"memory_bytes", static_cast<double>(sheet.memory_bytes)},
      {"memory_gb_per_s", sheet.memory_gb_per_s},
      {"memory_bus_bits", sheet.memory_bus_bits},
      {"l2_bytes", static_cast<double>(sheet.l2_bytes)},
      {"l2_bytes_per_clock", sheet.l2_bytes_per_clock.value_or(1)},
      {"per_sm.l1_and_shared_bytes", sheet.per_sm.l1_and_shared_bytes},
      {"per_sm.shared_bytes", sheet.per_sm.shared_bytes},
      {"per_sm.shared_bytes_per_block", sheet.per_sm.shared_bytes_per_block},
      {"per_sm.shared_bytes_per_block_optin", sheet.per_sm.shared_bytes_per_block_optin},
      {"per_sm.shared_allocation_unit", sheet.per_sm.shared_allocation_unit},
      {"per_sm.shared_bytes_per_clock", sheet.per_sm.shared_bytes_per_clock},
      {"per_sm.registers", sheet.per_sm.registers},
      {"per_sm.registers_per_block", sheet.per_sm.registers_per_block},
      {"per_sm.registers_per_thread", sheet.per_sm.registers_per_thread},
      {"per_sm.register_allocation_unit", sheet.per_sm.register_allocation_unit},
      {"per_sm.threads", sheet.per_sm.threads},
      {"per_sm.blocks", sheet.per_sm.blocks},
      {"per_sm.schedulers", sheet.per_sm.schedulers},
      {"results_per_clock_per_sm.fp32", sheet.rates.fp32},
      {"results_per_clock_per_sm.fp64", sheet.rates.fp64},
      {"results_per_clock_per_sm.fp16", sheet.rates.fp16},
      {"results_per_clock_per_sm.int32", sheet.rates.int32},
      {"results_per_clock_per_sm.special", sheet.rates.special},
  };
  for (const auto& [name, value] : positive)
    if (!(value > 0) || !std::isfinite(value)) return std::string(name) + " must be above 0";
  if (sheet.boost_clock_mhz < sheet.base_clock_mhz) return "boost_clock_mhz is below base_clock_mhz";
  if (sheet.per_sm.shared_bytes_per_block_optin > sheet.per_sm.shared_bytes)
    return "per_sm.shared_bytes_per_block_optin is above per_sm.shared_bytes";
  if (sheet.per_sm.shared_bytes > sheet.per_sm.l1_and_shared_bytes)
    return "per_sm.shared_bytes is above per_sm.l1_and_shared_bytes";
  if (!sheet.peak_tflops.contains("fp32")) return "peak_tflops has no fp32";
  for (const auto& [name, value] : sheet.peak_tflops) {
    if (!kPeakNames.contains(name)) return "peak_tflops has '" + name + "', which nothing reads";
    if (!(value > 0)) return "peak_tflops." + name + " must be above 0";
  }
  for (const auto& [name, value] : sheet.latency_cycles) {
    if (!kLatencyNames.contains(name)) return "latency_cycles has '" + name + "', which nothing reads";
    if (!(value > 0)) return "latency_cycles." + name + " must be above 0";
  }
  // Both are published; a digit that was typed wrong in either shows here.
  const double derived = sheet.sm_count * sheet.rates.fp32 * 2 * sheet.clock_hz() / 1e12;
  const double stated = sheet.peak_tflops.at("fp32");
  if (derived < stated * 0.95 || derived > stated * 1.05)
    return "peak_tflops.fp32 is " + std::to_string(stated) +
           ", but sm_count, results_per_clock_per_sm.fp32 and boost_clock_mhz give " + std::to_string(derived);
  return {};
}

}  // namespace

std::string GpuSheet::compute_capability() const { return std::to_string(cc_major) + "." + std::to_string(cc_minor); }

Result<GpuSheet> parse_gpu_sheet(std::string_view text, std::string_view what) {
  KW_TRY(const Json json, parse_json(text, what));
  KW_TRY(GpuSheet sheet, read_fields(what, [&] { return read_sheet_fields(json); }));
  const auto capability = json.find("compute_capability");
  if (capability == json.end() || !capability->is_string() || !read_capability(capability->get<std::string>(), sheet))
    return bad_input(std::string(what) + ": compute_capability must be a text such as \"8.0\"");
  if (const std::string wrong = impossible_figure(sheet); !wrong.empty())
    return bad_input(std::string(what) + ": " + wrong, "correct the figure; knowledge/gpus/a100.json is an example");
  return sheet;
}

std::vector<std::string> gpu_sheet_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSheetCount; ++i)
    if (auto sheet = parse_gpu_sheet(kSheetTexts[i], "a data sheet of the program")) names.push_back(sheet->id);
  std::sort(names.begin(), names.end());
  return names;
}

Result<GpuSheet> load_gpu_sheet(std::string_view name_or_file) {
  if (name_or_file.ends_with(".json")) {
    KW_TRY(const std::string text, read_file(fs::path(name_or_file)));
    return parse_gpu_sheet(text, name_or_file);
  }
  const std::string wanted = plain_name(name_or_file);
  for (std::size_t i = 0; i < kSheetCount; ++i) {
    KW_TRY(GpuSheet sheet, parse_gpu_sheet(kSheetTexts[i], "data sheet " + std::to_string(i) + " of knowledge/gpus"));
    if (sheet.id == wanted) return sheet;
  }
  std::string known;
  for (const std::string& name : gpu_sheet_names()) known += (known.empty() ? "" : ", ") + name;
  return bad_input("there is no data sheet of a GPU '" + std::string(name_or_file) + "'",
                   "one of " + known + ", or the path of a .json file such as those in knowledge/gpus");
}

Limits limits_of(const GpuSheet& sheet, std::uint64_t host_bytes) {
  Limits limits;
  limits.sm_count = sheet.sm_count;
  limits.max_threads_per_sm = sheet.per_sm.threads;
  limits.max_blocks_per_sm = sheet.per_sm.blocks;
  limits.shared_per_block = sheet.per_sm.shared_bytes_per_block;
  limits.shared_per_block_optin = sheet.per_sm.shared_bytes_per_block_optin;
  limits.shared_per_sm = sheet.per_sm.shared_bytes;
  limits.registers_per_sm = sheet.per_sm.registers;
  limits.registers_per_block = sheet.per_sm.registers_per_block;
  limits.cc_major = sheet.cc_major;
  limits.cc_minor = sheet.cc_minor;
  limits.l1_bytes = sheet.per_sm.l1_and_shared_bytes;
  limits.l2_bytes = sheet.l2_bytes;
  limits.global_bytes = host_bytes == 0 ? sheet.memory_bytes : std::min(sheet.memory_bytes, host_bytes);
  limits.clock_hz = sheet.clock_hz();
  return limits;
}

}  // namespace kw::vgpu
