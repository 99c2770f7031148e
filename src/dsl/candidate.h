// A kernel on its way through evaluation: its source, and the private folder with what was compiled from it.
#pragma once

#include <functional>

#include "dsl/dsl.h"

namespace kw {

class Candidate {
 public:
  // Reads the file and finds its DSL, if none is named. Nothing is compiled yet.
  static Result<Candidate> read(const fs::path& kernel_file, std::map<std::string, std::string> knobs,
                                std::string_view dsl_name = {});

  // A kernel that exists as text only; `file` is what messages call it, and its extension names the DSL.
  static Result<Candidate> of(KernelSource source, std::string_view dsl_name = {});

  // How its author writes it for another problem's shapes, where the text has those of its own in it.
  using Rewrite = std::function<Result<std::string>(const ProblemDescription& other)>;
  void rewrite_by(Rewrite rewrite) { rewrite_ = std::move(rewrite); }
  // The same kernel for other shapes: rewritten, or the same text, which then has to get them from problem.h.
  [[nodiscard]] Result<Candidate> for_shapes_of(const ProblemDescription& other) const;
  [[nodiscard]] bool is_rewritten() const { return rewrite_ != nullptr; }

  [[nodiscard]] const KernelSource& source() const { return source_; }
  [[nodiscard]] const Dsl& dsl() const { return *dsl_; }
  // Its kernels are judged on the virtual GPU, where their time is estimated and never measured.
  [[nodiscard]] bool on_gpu() const;
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
  Rewrite rewrite_;
};

}  // namespace kw
