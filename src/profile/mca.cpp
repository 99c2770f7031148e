#include "profile/mca.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "machine/cpu.h"
#include "profile/instruction_kinds.h"

namespace kw {
namespace {

constexpr std::size_t kMostInstructions = 600;
constexpr int kIterations = 100;

// The number behind `label`, which may stand in brackets: "Total Cycles:      614", "[ 67.10% ]".
std::optional<double> number_behind(std::string_view text, std::string_view label) {
  auto place = text.find(label);
  if (place == std::string_view::npos) return std::nullopt;
  place = text.find_first_not_of(" \t[", place + label.size());
  if (place == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + place, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// Below "Resource Pressure" every unit that is short has a line "  - Zn3FP1  [ 12.00% ]".
std::string busiest_unit_in(std::string_view text) {
  const auto begin = text.find("Resource Pressure ");
  if (begin == std::string_view::npos) return "";
  const auto end = text.find("Data Dependencies", begin);
  std::string_view rows = text.substr(begin, end == std::string_view::npos ? end : end - begin);
  std::string busiest;
  double most = 0;
  for (auto dash = rows.find("- "); dash != std::string_view::npos; dash = rows.find("- ", dash + 2)) {
    const auto name_end = rows.find_first_of(" \t[", dash + 2);
    if (name_end == std::string_view::npos) break;
    const std::string_view name = rows.substr(dash + 2, name_end - dash - 2);
    const auto share = number_behind(rows.substr(dash), name);
    if (share && *share > most) {
      most = *share;
      busiest = std::string(name);
    }
  }
  return busiest;
}

// A processor that llvm-mca has a model of: this one where it knows it, else one with the same instructions.
std::vector<std::string> processors_to_try(std::string_view isa, const CpuInfo& cpu) {
  if (isa == "arm") return {"native", "neoverse-n1", "cortex-a57"};
  const bool amd = cpu.model.find("AMD") != std::string::npos;
  if (cpu.has("avx512f"))
    return amd ? std::vector<std::string>{"native", "znver4", "icelake-server", "skylake-avx512"}
               : std::vector<std::string>{"native", "icelake-server", "skylake-avx512"};
  return amd ? std::vector<std::string>{"native", "znver3", "znver2"} : std::vector<std::string>{"native", "skylake", "haswell"};
}

}  // namespace

std::string find_mca() {
  if (std::string plain = find_program("llvm-mca"); !plain.empty()) return plain;
  for (int version = 22; version >= 13; --version)
    if (std::string found = find_program(fmt::format("llvm-mca-{}", version)); !found.empty()) return found;
  return "";
}

std::string mca_source(const Loop& loop, std::string_view isa) {
  if (loop.body.size() > kMostInstructions || (isa != "x86" && isa != "arm")) return "";
  std::string text = "kw_loop:\n";
  for (const Instruction& instruction : loop.body) {
    const InstructionKind kind = kind_of(instruction, isa);
    if (kind.call || kind.returns) return "";
    std::string operands = instruction.operands;
    if (kind.jump) {
      // Where a jump goes does not matter: every iteration is simulated as one path from top to bottom.
      const auto begin = operands.find_last_of(" ,");
      operands = (begin == std::string::npos ? "" : operands.substr(0, begin + 1)) + "kw_loop";
      if (!instruction.target) return "";
    } else if (instruction.mnemonic == "adrp") {
      operands = operands.substr(0, operands.find(',')) + ", kw_loop";
    }
    text += fmt::format("{} {}\n", instruction.mnemonic, operands);
  }
  return text;
}

std::optional<McaResult> parse_mca(std::string_view text) {
  const auto iterations = number_behind(text, "Iterations:");
  const auto cycles = number_behind(text, "Total Cycles:");
  const auto throughput = number_behind(text, "Block RThroughput:");
  const auto rate = number_behind(text, "IPC:");
  if (!iterations || !cycles || !throughput || !rate || *iterations <= 0) return std::nullopt;
  McaResult result;
  result.cycles_per_iteration = *cycles / *iterations;
  result.throughput_cycles = *throughput;
  result.instructions_per_cycle = *rate;
  result.resource_pressure = number_behind(text, "Resource Pressure ").value_or(0) / 100;
  result.register_dependencies = number_behind(text, "Register Dependencies ").value_or(0) / 100;
  result.memory_dependencies = number_behind(text, "Memory Dependencies ").value_or(0) / 100;
  result.busiest_unit = busiest_unit_in(text);
  return result;
}

std::optional<McaResult> simulate(const Loop& loop, std::string_view isa) {
  const std::string tool = find_mca();
  const std::string source = mca_source(loop, isa);
  if (tool.empty() || source.empty()) return std::nullopt;
  auto folder = TempFolder::make("kw-mca");
  if (!folder) return std::nullopt;
  const fs::path file = folder->path() / "loop.s";
  if (!write_file_atomically(file, source)) return std::nullopt;
  for (const std::string& cpu : processors_to_try(isa, detect_cpu())) {
    const auto outcome = run_command(
        {{tool, isa == "arm" ? "-mtriple=aarch64" : "-mtriple=x86_64", "-mcpu=" + cpu, fmt::format("-iterations={}", kIterations),
          "-bottleneck-analysis", "-instruction-info=false", "-resource-pressure=false", file.string()},
         {{"LC_ALL", "C"}},
         "",
         std::chrono::seconds(10)});
    if (!outcome) return std::nullopt;
    if (!outcome->succeeded() || outcome->err.find("not a recognized processor") != std::string::npos) continue;
    if (auto result = parse_mca(outcome->out)) {
      result->cpu = cpu;
      return result;
    }
  }
  return std::nullopt;
}

}  // namespace kw
