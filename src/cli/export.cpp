#include "export/forms.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "cli/commands.h"
#include "cli/view_commands.h"
#include "problem/oracle_client.h"
#include "record/standing.h"
#include "report/run_json.h"
#include "report/run_view.h"
#include "search/final_source.h"

namespace kw {
namespace {

Result<Individual> individual_of(const RunArchive& runs, const RunRecord& run, std::optional<std::int64_t> wanted) {
  const std::int64_t index = wanted.value_or(run.winner);
  if (index < 0)
    return bad_input(fmt::format("run {} has no winner yet", run.id),
                     fmt::format("kernelwright optimize --resume {}, or choose a kernel with --kernel N", run.id));
  KW_TRY(auto found, runs.individual(run.id, index));
  if (!found)
    return bad_input(fmt::format("run {} has no kernel {}", run.id, index), fmt::format("kernelwright show {} lists them", run.id));
  if (!found->passed())
    return bad_input(fmt::format("kernel {} of run {} did not pass: {}", index, run.id, name_of(found->verdict)),
                     "only kernels that passed are exported");
  return *found;
}

// The file as the run saw it: an export with another text beside the kernel would be a false claim.
Result<std::string> problem_text_of(const RunRecord& run) {
  auto text = read_file(run.problem_file);
  if (!text)
    return bad_input(fmt::format("the problem of run {} cannot be read: {}", run.id, text.error().message),
                     "put the file back where it was, or search it again from where it is");
  if (sha256(*text) != run.problem_hash)
    return bad_input(fmt::format("{} has changed since run {} searched it", run.problem_file, run.id),
                     fmt::format("kernelwright optimize {}", shown_path(run.problem_file)));
  return *text;
}

Status check_is_measured(const RunRecord& run) {
  if (run.options.dsl == "opencl")
    return bad_input(fmt::format("run {} searched a kernel in OpenCL C; exports are packages around C++", run.id),
                     fmt::format("kernelwright show {} --kernel {} prints its source, with its launches in comments", run.id,
                                 run.winner < 0 ? 0 : run.winner));
  if (!run.options.is_on_gpu()) return {};
  if (!run.options.is_estimated())
    return bad_input(fmt::format("run {} searched a kernel in {}; exports are packages around C++", run.id, run.options.dsl),
                     fmt::format("kernelwright show {} --kernel {} prints its source", run.id, run.winner < 0 ? 0 : run.winner));
  return bad_input(fmt::format("run {} searched a kernel in {} for {}, which is not here: it was estimated and never ran on it",
                               run.id, run.options.dsl, run.options.machine.empty() ? "a GPU" : run.options.machine),
                   fmt::format("kernelwright show {} --kernel {} prints its source, to be built and measured on that GPU", run.id,
                               run.winner < 0 ? 0 : run.winner));
}

// What the archive and the problem's file say; quick.
Result<ExportSubject> subject_of(Archive& archive, const ExportOptions& options) {
  const RunArchive runs = archive.runs();
  ExportSubject subject;
  KW_TRY(auto run, runs.find(options.run));
  if (!run) return no_such_run(options.run);
  subject.run = std::move(*run);
  KW_CHECK(check_is_measured(subject.run));
  KW_TRY(subject.individual, individual_of(runs, subject.run, options.kernel));
  KW_TRY(subject.problem_text, problem_text_of(subject.run));
  subject.name = options.name.empty() ? export_name(subject.run.problem_name) : options.name;
  KW_CHECK(check_export_name(subject.name));
  subject.kernel_text = with_knobs(subject.individual.kernel.source, subject.individual.proposal.knobs);
  KW_TRY(auto problem, archive.find_problem(subject.run.problem_hash, subject.run.torch_version));
  if (!problem) return internal_error(fmt::format("the archive lacks the problem of run {}", subject.run.id));
  subject.problem = std::move(*problem);
  KW_TRY(subject.machine, archive.find_machine(subject.run.machine_id));
  KW_TRY(subject.evaluation, archive.find_measured(subject.run.problem_hash, sha256(subject.individual.kernel.source),
                                                   subject.individual.proposal.knobs));
  return subject;
}

// What only PyTorch knows.
Status ask_oracle(ExportSubject& subject, bool wants_sample, Output& output) {
  OracleClient oracle({0, {}, [&](std::string_view text) { output.progress(text); }});
  KW_TRY(subject.signature, oracle.ask("signature", {{"problem", subject.run.problem_file}}));
  if (!wants_sample) return {};
  KW_TRY(subject.sample,
         oracle.ask("sample", {{"problem", subject.run.problem_file}, {"precision", subject.run.options.precision}}));
  return {};
}

std::string default_place(const ExportForm& form, const ExportSubject& subject) {
  return fmt::format("{}-{}{}", subject.name, form.name, form.is_one_file ? ".py" : "");
}

}  // namespace

Result<int> run_export(const ExportOptions& options, Output& output) {
  KW_TRY(const ExportForm* form, export_form(options.form));
  KW_TRY(Archive archive, Archive::open_to_read(Archive::default_path()));
  KW_TRY(ExportSubject subject, subject_of(archive, options));
  const std::string out = options.out.empty() ? default_place(*form, subject) : options.out;
  KW_CHECK(check_place(*form, out, options.force));
  KW_CHECK(ask_oracle(subject, form->wants_sample, output));
  output.progress("writing the export");
  KW_CHECK(write_export(*form, subject, out));
  const auto confirmed = subject.is_confirmed() ? subject.run.confirmed : std::nullopt;
  // Standard output has the place alone, for scripts.
  if (!output.json() && standing_of(confirmed) != Standing::faster) fmt::print(stderr, "{}\n", standing_words(confirmed));
  output.result(fmt::format("{}\n", out), {{"run", subject.run.id},
                                           {"kernel", subject.individual.index},
                                           {"as", form->name},
                                           {"name", subject.name},
                                           {"against_pytorch", standing_json(confirmed)},
                                           {"out", out}});
  return kPassed;
}

}  // namespace kw
