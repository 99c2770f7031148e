// `kernelwright vgpu run` and `vgpu profile`: a CUDA program compiled, or a Python program with Triton kernels, run on the virtual
// GPU, and what its kernels did.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/files.h"
#include "base/subprocess.h"
#include "cli/commands.h"
#include "cli/vgpu_profile.h"
#include "problem/oracle_client.h"
#include "vgpu/toolkit.h"

namespace kw {
namespace {

constexpr double kDaySeconds = 86400;

struct ProgramEnd {
  int status = 0;  // as a shell tells it: 128 and the signal's number where one ended it
  std::string out, err;
};

int shell_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// With our own input and output, as if the user had started it.
Result<ProgramEnd> run_in_front(const Command& command) {
  std::vector<std::string> words;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::string_view(*entry).find('='));
    if (!command.environment.contains(std::string(name))) words.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.environment) words.push_back(name + "=" + value);
  std::vector<char*> environment, arguments;
  for (std::string& word : words) environment.push_back(word.data());
  environment.push_back(nullptr);
  auto argv = command.argv;
  for (std::string& word : argv) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawn(&child, argv.front().c_str(), nullptr, nullptr, arguments.data(), environment.data());
      error != 0)
    return internal_error("the program could not be started: " + std::string(std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ProgramEnd{shell_status(status), {}, {}};
}

Result<ProgramEnd> run_captured(Command command) {
  command.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(kDaySeconds * 1000));
  KW_TRY(CommandOutcome outcome, run_command(command));
  return ProgramEnd{outcome.signal != 0 ? 128 + outcome.signal : outcome.exit_code, std::move(outcome.out), std::move(outcome.err)};
}

std::string summary_line(const vgpu::GpuSheet& sheet, const vgpu::ProgramReport& report, int status) {
  std::string text =
      fmt::format("vgpu: {} (virtual): {} launch{}, ", sheet.name, report.launches.size(), report.launches.size() == 1 ? "" : "es");
  text += report.findings.empty() ? "no findings"
                                  : fmt::format("{} finding{}", report.findings.size(), report.findings.size() == 1 ? "" : "s");
  if (status != 0) text += fmt::format("; the program ended with status {}", status);
  return text + "\n";
}

// A program that is ready to run, but for its arguments.
struct Program {
  Command command;
  std::map<std::string, vgpu::PtxasFacts> facts;
};

Result<Program> compiled_program(const fs::path& source, const VgpuOptions& options, const vgpu::GpuSheet& sheet,
                                 const fs::path& folder, Output& output) {
  output.progress("compiling " + source.filename().string());
  vgpu::CompileRequest request;
  request.source = source;
  request.program = folder / source.stem();
  request.options = options.nvcc_options;
  KW_TRY(const vgpu::CompiledProgram compiled, vgpu::compile_cuda_program(request, sheet));
  if (!output.json() && !compiled.warnings.empty()) std::fputs(compiled.warnings.c_str(), stderr);
  const fs::path facts_file = folder / "facts.json";
  KW_CHECK(write_file_atomically(facts_file, vgpu::facts_json(compiled.facts).dump()));
  Program program{{}, compiled.facts};
  program.command.argv = {request.program.string()};
  program.command.environment["KERNELWRIGHT_VGPU_FACTS"] = facts_file.string();
  return program;
}

// Run by the oracle's Python, with Triton's driver of ours active.
Result<Program> python_program(const fs::path& source, const VgpuOptions& options) {
  std::error_code error;
  if (!fs::is_regular_file(source, error)) return bad_input("there is no file " + source.string(), "name a Python program");
  if (!options.nvcc_options.empty())
    return bad_input("--nvcc is for CUDA programs; " + source.filename().string() + " is Python", "leave it out");
  KW_TRY(const std::string python, oracle_python());
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const fs::path library, vgpu::find_cudart_library());
  const char* before = std::getenv("PYTHONPATH");
  Program program;
  program.command.argv = {python, "-m", "kernelwright_triton", source.string()};
  program.command.environment = {
      {"PYTHONPATH", (root / "python").string() + (before != nullptr && *before != '\0' ? ":" + std::string(before) : "")},
      {"KERNELWRIGHT_VGPU_LIBRARY", library.string()}};
  return program;
}

}  // namespace

Result<int> run_vgpu(const VgpuOptions& options, Output& output) {
  if (options.words.empty())
    return bad_input("no program was named",
                     "kernelwright vgpu run FILE.cu [arguments of the program...], or FILE.py with Triton kernels");
  const fs::path source = options.words.front();
  KW_TRY(const vgpu::GpuSheet sheet, vgpu::load_gpu_sheet(options.gpu));
  KW_TRY(const TempFolder folder, TempFolder::make("kw-vgpu"));
  KW_TRY(Program program, source.extension() == ".py" ? python_program(source, options)
                                                      : compiled_program(source, options, sheet, folder.path(), output));
  const fs::path report_file = folder.path() / "report.jsonl";
  Command& command = program.command;
  command.argv.insert(command.argv.end(), options.words.begin() + 1, options.words.end());
  command.environment.insert({{"KERNELWRIGHT_VGPU_GPU", options.gpu},
                              {"KERNELWRIGHT_VGPU_REPORT", report_file.string()},
                              {"KERNELWRIGHT_VGPU_CHECKS", options.checks ? "1" : "0"},
                              {"KERNELWRIGHT_VGPU_COUNTERS", options.profile || output.json() ? "1" : "0"},
                              {"KERNELWRIGHT_VGPU_QUIET", output.json() ? "1" : "0"},
                              {"KERNELWRIGHT_VGPU_THREADS", std::to_string(options.threads)},
                              {"KERNELWRIGHT_VGPU_DEADLINE", fmt::format("{}", options.deadline)}});
  output.progress({});
  KW_TRY(const ProgramEnd end, output.json() ? run_captured(command) : run_in_front(command));
  KW_TRY(const vgpu::ProgramReport report, read_program_report(report_file));

  Json json = {{"gpu", {{"id", sheet.id}, {"name", sheet.name}}},
               {"status", end.status},
               {"stdout", end.out},
               {"stderr", end.err},
               {"findings", report.findings},
               {"errors", report.errors},
               {"ptxas", vgpu::facts_json(program.facts)},
               {"kernels", profile_json(sheet, report)}};
  std::string text;
  if (options.profile) text = profile_text(sheet, report, program.facts, source, options.lines);
  output.result(text, json);
  if (!output.json()) std::fputs(summary_line(sheet, report, end.status).c_str(), stderr);
  // A finding is not the program's business, but whoever checks it wants to know.
  return end.status != 0 ? end.status : report.findings.empty() && report.errors.empty() ? kPassed : kNotPassed;
}

}  // namespace kw
