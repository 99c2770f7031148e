// The DSL `cpp`: C++20 with OpenMP, compiled by the system's compiler in the sandbox to a shared object.
#pragma once

#include "dsl/kernel.h"

namespace kw {

// A first look at the text, before anything is run: what it includes. Empty when there is nothing to object to.
std::optional<Diagnosis> screen_cpp(const KernelSource& source);

// Compiles into `folder`, which must be private to this candidate.
Result<CompileOutcome> compile_cpp(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                   const CompileOptions& options);

// "g++ 12.2.0", or an error that says what to install. $KERNELWRIGHT_CXX chooses another compiler.
Result<std::string> cpp_compiler_version();
Result<std::string> cpp_compiler();
// The sandbox that the compiler runs in; its options are the caller's.
sandbox::Spec cpp_compiler_box(const std::string& compiler, const fs::path& folder, const CompileOptions& options);
// The flags that decide what code comes out: part of every archived key.
std::vector<std::string> cpp_flags();

// The source line of an offset into an object that was compiled with `lines`, as "kernel.cpp:12"; empty if unknown.
std::string line_of(const std::string& object, std::uint64_t offset);

// A knob that the source declares: `// kw:knob KW_TILE 32 64 128`, or behind `#` in Python.
struct DeclaredKnob {
  std::string name;
  std::vector<std::string> values;
};
std::vector<DeclaredKnob> declared_knobs(const std::string& text);

}  // namespace kw
