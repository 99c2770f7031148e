#include "export/operator_files.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/timing_environment.h"
#include "dsl/cpp.h"
#include "dsl/problem_header.h"
#include "export/binding.h"

namespace kw {
namespace {

constexpr std::string_view kPrepared =
    "The kernel repacks the weights. That is done at the first call and again after any change that PyTorch counts: "
    "`load_state_dict()`, "
    "an optimizer's step, in-place\noperations. Changes through `.data` are not counted: call `{}.forget_prepared()` after them. "
    "Weights made "
    "inside of `torch.inference_mode()` are\nrepacked at every call: make the module outside of it.";

std::string dashed(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

Status add(const std::string& from, const std::string& to, const TemplateValues& values, std::vector<ExportedFile>& files) {
  KW_TRY(std::string text, filled_template(from, values));
  files.push_back({to, std::move(text)});
  return {};
}

}  // namespace

TemplateValues operator_values(const ExportSubject& subject, const EvidencePlaces& places) {
  std::vector<std::string> parameters;
  for (const auto& name : subject.signature.at("parameters")) parameters.push_back(name.get<std::string>());
  return {{"name", subject.name},
          {"distribution", dashed(subject.name)},
          {"title", title_of(subject)},
          {"namespace", operator_namespace(subject)},
          {"precision", subject.run.options.precision},
          {"call", fmt::format("{}", fmt::join(parameters, ", "))},
          {"kernel_flags", Json(cpp_flags()).dump()},
          {"flags_text", fmt::format("{}", fmt::join(cpp_flags(), " "))},
          {"defines", binding_defines(subject)},
          {"timing_environment", Json(timing_environment()).dump()},
          {"facts", evidence_table(subject, places)},
          {"tensors", tensor_table(subject.problem)},
          {"notes", notes_section(subject)},
          {"prepare_note", subject.prepares() ? fmt::format(fmt::runtime(kPrepared), subject.name)
                                              : "It repacks no weights: they may change at any time."}};
}

Status add_operator_sources(const ExportSubject& subject, const TemplateValues& values, const std::string& folder,
                            std::vector<ExportedFile>& files) {
  files.push_back({folder + "kernel.cpp", subject.kernel_text});
  files.push_back({folder + "problem.h", problem_header(subject.problem)});
  files.push_back({folder + "contract.h", binding_header(subject)});
  KW_CHECK(add("native/ops.cpp", folder + "ops.cpp", values, files));
  return add("native/exports.map", folder + "exports.map", values, files);
}

Status add_module_files(const ExportSubject& subject, const TemplateValues& values, const EvidencePlaces& places,
                        const std::string& folder, std::vector<ExportedFile>& files) {
  files.push_back({folder + "original.py", subject.problem_text});
  files.push_back({folder + "contract.json", binding_json(subject).dump(1) + "\n"});
  files.push_back({folder + "evidence.json", evidence_json(subject, places).dump(1) + "\n"});
  KW_CHECK(add("native/init.py", folder + "__init__.py", values, files));
  KW_CHECK(add("native/kernel_module.py", folder + "kernel_module.py", values, files));
  return add("native/native.py", folder + "native.py", values, files);
}

}  // namespace kw
