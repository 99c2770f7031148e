#include "dsl/candidate.h"

#include <fmt/format.h>

#include "dsl/kernelbench.h"

namespace kw {

Result<Candidate> Candidate::read(const fs::path& kernel_file, std::map<std::string, std::string> knobs,
                                  std::string_view dsl_name) {
  KW_TRY(std::string text, read_file(kernel_file));
  KW_TRY(const Dsl* dsl, dsl_of(kernel_file, text, dsl_name));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return bad_input(fmt::format("{} is empty", kernel_file.string()), "see what to define with: kernelwright describe PROBLEM");
  KW_TRY(TempFolder folder, TempFolder::make("kw-build"));
  return Candidate({kernel_file.filename().string(), std::move(text), std::move(knobs)}, dsl, std::move(folder));
}

Result<Candidate> Candidate::of(KernelSource source, std::string_view dsl_name) {
  KW_TRY(const Dsl* dsl, dsl_of(source.file, source.text, dsl_name));
  KW_TRY(TempFolder folder, TempFolder::make("kw-build"));
  return Candidate(std::move(source), dsl, std::move(folder));
}

bool Candidate::on_gpu() const { return dsl_->on_gpu() || (dsl_->name == "kernelbench" && imports_triton(source_.text)); }

Result<Candidate> Candidate::for_shapes_of(const ProblemDescription& other) const {
  KernelSource source = source_;
  if (rewrite_) {
    KW_TRY(source.text, rewrite_(other));
  }
  return of(std::move(source), dsl_->name);
}

Result<CompileOutcome> Candidate::compile(const ProblemDescription& problem, const CompileOptions& options) {
  if (!outcome_) {
    KW_TRY(outcome_, dsl_->compile(problem, source_, folder_.path(), options));
    kernel_ = outcome_->kernel;
  }
  return *outcome_;
}

Result<CompileOutcome> Candidate::compile_variant(const ProblemDescription& problem, const CompileOptions& options,
                                                  const std::string& name) const {
  const fs::path folder = folder_.path() / name;
  KW_CHECK(make_folders(folder));
  return dsl_->compile(problem, source_, folder, options);
}

}  // namespace kw
