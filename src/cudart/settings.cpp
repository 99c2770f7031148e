#include "cudart/settings.h"

#include <charconv>
#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "vgpu/gpu_sheet.h"

namespace kw::cudart {
namespace {

std::string setting_named(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before main
  return value == nullptr ? std::string() : std::string(value);
}

Status read_switch(const char* name, bool& value) {
  const std::string text = setting_named(name);
  if (text.empty()) return {};
  if (text != "0" && text != "1") return bad_input(std::string(name) + " is '" + text + "'", "set it to 0 or 1");
  value = text == "1";
  return {};
}

template <typename Number>
Status read_number(const char* name, Number& value) {
  const std::string text = setting_named(name);
  if (text.empty()) return {};
  Number read{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size() || read < Number{})
    return bad_input(std::string(name) + " is '" + text + "'", "set it to a number, 0 or more");
  value = read;
  return {};
}

}  // namespace

Result<Settings> settings_from_environment() {
  Settings settings;
  settings.gpu = setting_named("KERNELWRIGHT_VGPU_GPU");
  if (settings.gpu.empty()) settings.gpu = vgpu::kDefaultGpu;
  KW_CHECK(read_switch("KERNELWRIGHT_VGPU_CHECKS", settings.checks));
  KW_CHECK(read_switch("KERNELWRIGHT_VGPU_COUNTERS", settings.counters));
  KW_CHECK(read_switch("KERNELWRIGHT_VGPU_QUIET", settings.quiet));
  KW_CHECK(read_number("KERNELWRIGHT_VGPU_THREADS", settings.threads));
  KW_CHECK(read_number("KERNELWRIGHT_VGPU_DEADLINE", settings.deadline_seconds));
  KW_TRY(settings.seed, seed_from_environment());
  settings.report_file = setting_named("KERNELWRIGHT_VGPU_REPORT");
  if (const std::string file = setting_named("KERNELWRIGHT_VGPU_FACTS"); !file.empty()) {
    KW_TRY(const std::string text, read_file(file));
    KW_TRY(settings.facts, facts_from_text(text, file));
  }
  return settings;
}

Result<std::uint64_t> seed_from_environment() {
  std::uint64_t seed = 0;
  KW_CHECK(read_number("KERNELWRIGHT_VGPU_SEED", seed));
  return seed;
}

Result<std::map<std::string, CompiledFacts>> facts_from_text(std::string_view text, std::string_view what) {
  KW_TRY(const Json json, parse_json(text, what));
  return read_fields(what, [&] {
    std::map<std::string, CompiledFacts> facts;
    for (const auto& [kernel, entry] : json.items())
      facts[kernel] = {entry.at("registers").get<int>(), entry.value("spill_bytes", 0)};
    return facts;
  });
}

}  // namespace kw::cudart
