#include <sys/utsname.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "export/binding.h"
#include "export/forms.h"
#include "export/operator_files.h"
#include "problem/oracle_client.h"
#include "problem/problem_source.h"

namespace kw {
namespace {

constexpr std::chrono::minutes kBuildDeadline{10};

// "torch215-cxx11-cpu-x86_64-linux": the folder of a build for this PyTorch on this system.
Result<std::string> variant_name(const ExportSubject& subject) {
  KW_TRY(const std::string python, oracle_python());
  std::string version = torch_version_on_disk(python);
  if (version.empty()) version = subject.run.torch_version;
  const std::size_t dot = version.find('.');
  const std::size_t second = dot == std::string::npos ? dot : version.find('.', dot + 1);
  if (second == std::string::npos) return internal_error(fmt::format("'{}' is no version of PyTorch", version));
  utsname system{};
  if (::uname(&system) != 0) return internal_error("uname failed");
  return fmt::format("torch{}{}-cxx11-cpu-{}-linux", version.substr(0, dot), version.substr(dot + 1, second - dot - 1),
                     system.machine);
}

Json metadata(const ExportSubject& subject, const std::string& name) {
  return {{"name", name},
          {"id", "_" + operator_namespace(subject)},  // of the module that it is imported as
          {"version", 1},
          {"license", "Apache-2.0"},
          {"python-depends", Json::array()},
          {"backend", {{"type", "cpu"}}}};
}

}  // namespace

Result<std::vector<ExportedFile>> hub_files(const ExportSubject& subject) {
  KW_TRY(const std::string variant, variant_name(subject));
  const std::string folder = "build/" + variant + "/";
  const EvidencePlaces places{folder + "original.py", "source/kernel.cpp"};
  const TemplateValues values = operator_values(subject, places);
  std::vector<ExportedFile> files;
  KW_CHECK(add_operator_sources(subject, values, "source/", files));
  KW_CHECK(add_module_files(subject, values, places, folder, files));
  files.push_back({folder + "metadata.json", metadata(subject, values.at("distribution")).dump(1) + "\n"});
  KW_TRY(std::string build, filled_template("native/build_kernel.py", values));
  files.push_back({"source/build_kernel.py", std::move(build)});
  KW_TRY(std::string readme, filled_template("hub/README.md", values));
  files.push_back({"README.md", std::move(readme)});
  return files;
}

Status build_hub(const ExportSubject& subject, const fs::path& folder) {
  KW_TRY(const std::string python, oracle_python());
  KW_TRY(const std::string variant, variant_name(subject));
  Command command;
  command.argv = {python, (folder / "source" / "build_kernel.py").string(), (folder / "source").string(),
                  (folder / "build" / variant / "kernel.so").string()};
  command.deadline = kBuildDeadline;
  KW_TRY(const CommandOutcome outcome, run_command(command));
  if (outcome.succeeded()) return {};
  if (outcome.timed_out) return internal_error("the compiler did not finish within ten minutes");
  const std::string said = outcome.err.substr(0, outcome.err.find('\n'));
  return bad_input(fmt::format("the export could not be compiled: {}", said), "kernelwright doctor says what is missing");
}

}  // namespace kw
