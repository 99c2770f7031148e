#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/cpp.h"
#include "dsl/problem_header.h"
#include "export/evidence.h"
#include "export/forms.h"
#include "export/sample_header.h"
#include "export/templates.h"
#include "record/contract.h"

namespace kw {
namespace {

using Specs = std::vector<TensorSpec>;

// As the public header has it: without the contract's own types, which are the kernel's affair.
std::string public_type(DType dtype) {
  if (dtype == DType::f16 || dtype == DType::bf16) return "std::uint16_t";
  return std::string(c_type(dtype));
}

std::string field(const TensorSpec& spec) {
  const std::string type = public_type(spec.dtype);
  if (spec.kind == TensorKind::scalar) return fmt::format("  {} {};\n", type, spec.c_name);
  return fmt::format("  {}{}* {};\n", spec.kind == TensorKind::output ? "" : "const ", type, spec.c_name);
}

std::string fields(const Specs& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) text += field(spec);
  return text;
}

std::string constants(const ProblemDescription& problem) {
  std::string text;
  for (const TensorSpec* spec : problem.arguments()) {
    if (spec->kind == TensorKind::scalar) continue;
    const auto list = [](const std::vector<std::int64_t>& values) {
      return values.empty() ? std::string("1") : fmt::format("{}", fmt::join(values, ", "));
    };
    text += fmt::format("// {}: {}[{}]\n", spec->c_name, torch_name(spec->dtype), fmt::join(spec->shape, ", "));
    text += fmt::format("inline constexpr std::int64_t {0}_shape[] = {{{1}}}, {0}_strides[] = {{{2}}}, {0}_span = {3};\n",
                        spec->c_name, list(spec->shape), list(spec->strides), spec->span);
  }
  return text;
}

template <typename Text>
std::string joined(const Specs& specs, Text text_of) {
  std::vector<std::string> parts;
  for (const TensorSpec& spec : specs) parts.push_back(text_of(spec));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// An argument of the call in the example: its buffer, or the number that the problem itself has.
std::string example_argument(const TensorSpec& spec) {
  if (spec.kind != TensorKind::scalar) return spec.c_name + ".get()";
  return spec.dtype == DType::boolean ? (spec.value != 0 ? "true" : "false") : fmt::format("{}", spec.value);
}

std::string example_buffers(const ProblemDescription& problem) {
  std::string text;
  for (const TensorSpec* spec : problem.arguments())
    if (spec->kind != TensorKind::scalar)
      text += fmt::format("  auto {0} = aligned<{1}>({2}::{0}_span);\n", spec->c_name, public_type(spec->dtype), "@name@");
  return text;
}

std::string slot(const TensorSpec& spec, const std::string& holder) {
  const std::string member = holder + "." + spec.c_name;
  if (spec.kind == TensorKind::scalar) return fmt::format("const_cast<{}*>(&{})", c_type(spec.dtype), member);
  return fmt::format("checked({}, \"{}\")", member, spec.c_name);
}

std::string slots(const ProblemDescription& problem) {
  std::vector<std::string> parts;
  const auto add = [&](const Specs& specs, const char* holder) {
    for (const TensorSpec& spec : specs) parts.push_back(slot(spec, holder));
  };
  add(problem.inputs, "inputs");
  add(problem.parameters, "weights_");
  add(problem.outputs, "outputs");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The inputs' places come first and are not looked at.
std::string prepare_slots(const ProblemDescription& problem) {
  std::vector<std::string> parts(problem.inputs.size(), "nullptr");
  for (const TensorSpec& spec : problem.parameters) parts.push_back(slot(spec, "weights_"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string weight_checks(const ProblemDescription& problem) {
  std::string text;
  for (const TensorSpec& spec : problem.parameters) text += fmt::format("  checked(weights.{0}, \"{0}\");\n", spec.c_name);
  return text;
}

std::string kernel_flags() {
  std::vector<std::string> flags = cpp_flags();
  std::erase(flags, "-march=native");
  return fmt::format("{}", fmt::join(flags, " "));
}

TemplateValues cpp_values(const ExportSubject& subject, const EvidencePlaces& places) {
  const ProblemDescription& problem = subject.problem;
  const auto name = [](const TensorSpec& spec) { return spec.c_name; };
  TemplateValues values{
      {"name", subject.name},
      {"title", title_of(subject)},
      {"constants", constants(problem)},
      {"input_fields", fields(problem.inputs)},
      {"weight_fields", fields(problem.parameters)},
      {"output_fields", fields(problem.outputs)},
      {"prepare_words", subject.prepares() ? "; they are repacked once, when it is made" : ""},
      {"weight_checks", weight_checks(problem)},
      {"prepare_slots", prepare_slots(problem)},
      {"call_slots", slots(problem)},
      {"definitions", subject.prepares() ? "KW_HAS_PREPARE" : ""},
      {"kernel_flag_list", kernel_flags()},
      {"weight_names", joined(problem.parameters, name)},
      {"input_names", joined(problem.inputs, name)},
      {"output_names", joined(problem.outputs, name)},
      {"facts", evidence_table(subject, places)},
      {"tensors", tensor_table(problem)},
      {"notes", notes_section(subject)},
      {"prepare_note",
       subject.prepares() ? "The weights are repacked when a `Kernel` is made: make another after they have changed." : ""}};
  values["test_note"] =
      subject.sample.contains("outputs")
          ? "`tests/test.cpp` compares the kernel with elements of the float64 reference, for inputs that a formula gives, with "
            "one thread and with all."
          : fmt::format("There is no test of values here: {}. The example runs as a test.", subject.sample.value("why_not", ""));
  return values;
}

}  // namespace

Result<std::vector<ExportedFile>> cpp_files(const ExportSubject& subject) {
  const EvidencePlaces places{"original.py", "src/kernel.cpp"};
  TemplateValues values = cpp_values(subject, places);
  std::vector<ExportedFile> files{{"src/kernel.cpp", subject.kernel_text},
                                  {"src/problem.h", problem_header(subject.problem)},
                                  {"original.py", subject.problem_text},
                                  {"evidence.json", evidence_json(subject, places).dump(1) + "\n"}};
  const auto add = [&](const std::string& from, const std::string& to) -> Status {
    KW_TRY(std::string text, filled_template("cpp/" + from, values));
    files.push_back({to, std::move(text)});
    return {};
  };
  KW_CHECK(add("CMakeLists.txt", "CMakeLists.txt"));
  KW_CHECK(add("README.md", "README.md"));
  KW_CHECK(add("header.h", "include/" + subject.name + ".h"));
  KW_CHECK(add("names.h", "src/names.h"));
  KW_CHECK(add("unit.cpp", "src/unit.cpp"));
  KW_CHECK(add("source.cpp", "src/" + subject.name + ".cpp"));
  KW_TRY(values["buffers"], filled(example_buffers(subject.problem), values, "the example"));
  values["weight_names"] = joined(subject.problem.parameters, example_argument);
  values["input_names"] = joined(subject.problem.inputs, example_argument);
  values["output_names"] = joined(subject.problem.outputs, example_argument);
  KW_CHECK(add("main.cpp", "example/main.cpp"));
  if (!subject.sample.contains("outputs")) return files;
  values["test_weights"] = sample_arguments(subject.problem, SampleRole::weights);
  values["test_inputs"] = sample_arguments(subject.problem, SampleRole::inputs);
  values["test_outputs"] = sample_arguments(subject.problem, SampleRole::outputs);
  values["misaligned_outputs"] = sample_arguments(subject.problem, SampleRole::misaligned_outputs);
  KW_CHECK(add("test.cpp", "tests/test.cpp"));
  KW_TRY(std::string expected, sample_header(subject.problem, subject.sample));
  files.push_back({"tests/expected.h", std::move(expected)});
  return files;
}

}  // namespace kw
