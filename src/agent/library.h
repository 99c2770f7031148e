// What the agents know: prompt templates (prompts/), advice per workload class and zone (knowledge/workloads/), and the guide, the
// pitfalls and the worked examples of a DSL (knowledge/dsl/). The problems of examples are described once, with those in C++. Read
// once; files that a person can edit, no text in the code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/plain_words.h"
#include "agent/prompt.h"
#include "record/strategy.h"

namespace kw {

// A kernel that is known to be right, with the problem that it solves.
struct WorkedExample {
  std::string name, workload_class;
  std::string statement;    // the problem in a line or two of PyTorch
  std::string declaration;  // of its kw_kernel
  std::string source;
  Features features;
  // The same for small models: the plainest kernel, and the problem in the words in which they get theirs. May be empty.
  std::string plain_source, module, operations, tensors;
};

// How prompts speak of a DSL.
struct DslWords {
  std::string language = "C++";   // "You write C++ kernels"
  std::string hardware = "CPUs";  // that they run on
  std::string fence = "cpp";      // of code blocks
};

class Library {
 public:
  // Below install_root(), or another folder with the same layout. An error names the file.
  static Result<Library> load(const fs::path& root, const std::string& dsl = "cpp");

  [[nodiscard]] Result<const PromptTemplate*> prompt(const std::string& role, bool compact) const;
  // For a class ("softmax" is advised as a normalisation); empty where nothing fits. Short: its first part alone.
  [[nodiscard]] std::string advice(const std::string& workload_class, bool compact) const;
  [[nodiscard]] std::string zone_guidance(const std::string& zone) const;
  [[nodiscard]] const DslWords& words() const { return words_; }
  [[nodiscard]] const std::string& guide(bool compact) const { return compact ? short_guide_ : guide_; }
  [[nodiscard]] const std::string& pitfalls() const { return pitfalls_; }
  // Of the same class, or a related one, the nearest by features.
  [[nodiscard]] const WorkedExample& example(const std::string& workload_class, const Features& features) const;
  // Two with a plain form: one that is always the same, so that a server has read it before, and the nearest of the others.
  [[nodiscard]] std::pair<const WorkedExample*, const WorkedExample*> plain_examples(const std::string& workload_class,
                                                                                     const Features& features) const;
  [[nodiscard]] const OperationWords& operation_words() const { return operation_words_; }
  [[nodiscard]] const std::vector<WorkedExample>& examples() const { return examples_; }

 private:
  std::map<std::string, PromptTemplate> prompts_;  // "translator", "translator.compact"
  std::map<std::string, std::string> advice_, zones_;
  DslWords words_;
  std::string guide_, short_guide_, pitfalls_;
  std::vector<WorkedExample> examples_;
  OperationWords operation_words_;
};

// The file of advice that a workload class is advised by.
std::string advice_class(const std::string& workload_class);

}  // namespace kw
