// A kernel on its way through evaluation: its source, and the private folder with what was compiled from it.
#pragma once

#include "dsl/dsl.h"

namespace kw {

class Candidate {
 public:
  // Reads the file and finds its DSL, if none is named. Nothing is compiled yet.
  static Result<Candidate> read(const fs::path& kernel_file, std::map<std::string, std::string> knobs,
                                std::string_view dsl_name = {});

  // A kernel that exists as text only; `file` is what messages call it, and its extension names the DSL.
  static Result<Candidate> of(KernelSource source, std::string_view dsl_name = {});

  [[nodiscard]] const KernelSource& source() const { return source_; }
  [[nodiscard]] const Dsl& dsl() const { return *dsl_; }
  [[nodiscard]] const std::optional<CompiledKernel>& kernel() const { return kernel_; }

  // Compiles once; later calls return the same outcome.
  Result<CompileOutcome> compile(const ProblemDescription& problem, const CompileOptions& options);
  // The same source again for a diagnosis, in a folder of its own.
  Result<CompileOutcome> compile_variant(const ProblemDescription& problem, const CompileOptions& options,
                                         const std::string& name) const;

 private:
  Candidate(KernelSource source, const Dsl* dsl, TempFolder folder)
      : source_(std::move(source)), dsl_(dsl), folder_(std::move(folder)) {}
  KernelSource source_;
  const Dsl* dsl_;
  TempFolder folder_;
  std::optional<CompileOutcome> outcome_;
  std::optional<CompiledKernel> kernel_;
};

}  // namespace kw
