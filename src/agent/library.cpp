#include "agent/library.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "agent/cpp_shape.h"
#include "base/json.h"
#include "record/dsl_place.h"
#include "strategy/lessons.h"

namespace kw {
namespace {

// A file's part under a heading "## name", without the heading.
std::map<std::string, std::string> parts_by_heading(const std::string& text) {
  std::map<std::string, std::string> parts;
  std::string name;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("## "))
      name = line.substr(3);
    else if (!line.starts_with("# "))
      parts[name] += line + "\n";
  }
  for (auto& [heading, part] : parts) {
    part.erase(0, std::min(part.find_first_not_of('\n'), part.size()));
    while (part.ends_with("\n")) part.pop_back();
  }
  return parts;
}

// The problems that kernels in C++ are examples for, and those of another DSL that solve some of them under the same names.
struct ExampleFolder {
  fs::path problems;  // with examples.json
  fs::path kernels;
  std::string extension;  // of those; empty: they are the ones in C++
};

void as_other_dsl(WorkedExample& example, const std::string& extension) {
  const auto renamed = [&](const std::string& file) {
    return file.empty() ? file : fs::path(file).replace_extension(extension).string();
  };
  example.name = renamed(example.name);
  example.plain_source = renamed(example.plain_source);
  std::string& declared = example.declaration;
  if (extension == ".cu") declared.insert(declared.rfind(')'), ", cudaStream_t stream");
  if (extension != ".cl") return;
  for (const auto& [cpp, opencl] :
       {std::pair{R"(extern "C" void)", "__kernel void"}, std::pair{R"(std::int64_t)", "long"}, std::pair{R"(std::int32_t)", "int"},
        std::pair{R"(\bbool\*)", "uchar*"}, std::pair{R"((const )?(\w+)\*)", "__global $1$2*"}})
    declared = std::regex_replace(declared, std::regex(cpp), opencl);
}

Result<std::vector<WorkedExample>> read_examples(const ExampleFolder& from) {
  const fs::path index = from.problems / "examples.json";
  KW_TRY(const std::string text, read_file(index));
  KW_TRY(const Json json, parse_json(text, index.string()));
  KW_TRY(auto examples, read_fields(index.string(), [&] {
           std::vector<WorkedExample> all;
           for (const Json& row : json) {
             WorkedExample one;
             one.name = row.at("kernel").get<std::string>();
             one.workload_class = row.at("class").get<std::string>();
             one.statement = row.at("statement").get<std::string>();
             one.declaration = row.at("declaration").get<std::string>();
             one.features = row.at("features").get<Features>();
             one.plain_source = row.value("plain", "");
             one.module = row.value("module", "");
             one.operations = row.value("operations", "");
             one.tensors = row.value("tensors", "");
             if (!from.extension.empty()) as_other_dsl(one, from.extension);
             if (!from.extension.empty() && !fs::exists(from.kernels / one.name)) continue;
             if (!from.extension.empty() && !fs::exists(from.kernels / one.plain_source)) one.plain_source.clear();
             all.push_back(std::move(one));
           }
           return all;
         }));
  for (WorkedExample& example : examples) {
    KW_TRY(example.source, read_file(from.kernels / example.name));
    if (example.plain_source.empty()) continue;
    KW_TRY(example.plain_source, read_file(from.kernels / example.plain_source));
  }
  const auto plain =
      std::count_if(examples.begin(), examples.end(), [](const WorkedExample& each) { return !each.plain_source.empty(); });
  if (plain < 2)
    return bad_input(from.kernels.string() + " has fewer than two examples with a plain form", "a translator needs them");
  return examples;
}

}  // namespace

std::string advice_class(const std::string& workload_class) {
  static const std::map<std::string, std::string> kOthers{
      {"softmax", "normalisation"}, {"argument reduction", "reduction"}, {"gather", "pointwise"}, {"movement", "pointwise"},
      {"recurrent", "matmul"},      {"interpolation", "pooling"},        {"unknown", "pointwise"}};
  const std::string main = workload_class.substr(0, workload_class.find(" + "));
  const auto other = kOthers.find(main);
  return other == kOthers.end() ? main : other->second;
}

Result<Library> Library::load(const fs::path& root, const std::string& name_of_dsl) {
  static const std::map<std::string, DslWords> kWords{{"cpp", {}},
                                                      {"cuda-c", {"CUDA C++", "NVIDIA GPUs", "cuda"}},
                                                      {"cute", {"CUDA C++ with CuTe", "NVIDIA GPUs", "cuda"}},
                                                      {"opencl", {"OpenCL C", "OpenCL on CPUs", "c"}}};
  const auto known = kWords.find(name_of_dsl);
  if (known == kWords.end()) return bad_input(fmt::format("models write no {}", name_of_dsl), "leave --model out");
  const bool on_gpu = is_for_gpu(name_of_dsl);
  const std::string extension = on_gpu ? ".cu" : name_of_dsl == "opencl" ? ".cl" : "";
  Library library;
  library.words_ = known->second;
  for (const auto& entry : entries_of(root / "prompts")) {
    if (entry.path().extension() != ".md" || entry.path().stem() == "README") continue;
    KW_TRY(const std::string text, read_file(entry.path()));
    KW_TRY(PromptTemplate made, PromptTemplate::parse(text, "prompts/" + entry.path().filename().string()));
    library.prompts_.emplace(entry.path().stem().string(), std::move(made));
  }
  const fs::path workloads = root / "knowledge" / "workloads";
  for (const auto& entry : entries_of(on_gpu ? workloads / "gpu" : workloads)) {
    if (entry.path().extension() != ".md") continue;
    KW_TRY(const std::string text, read_file(entry.path()));
    const std::string name = entry.path().stem().string();
    if (name == "zones")
      library.zones_ = parts_by_heading(text);
    else
      for (auto& [heading, part] : parts_by_heading(text)) library.advice_[name + "/" + heading] = std::move(part);
  }
  const fs::path problems = root / "knowledge" / "dsl" / "cpp", dsl = root / "knowledge" / "dsl" / name_of_dsl;
  KW_TRY(library.guide_, read_file(dsl / "guide.md"));
  KW_TRY(library.short_guide_, read_file(dsl / "guide.compact.md"));
  KW_TRY(library.pitfalls_, read_file(dsl / "pitfalls.md"));
  KW_TRY(library.examples_, read_examples({problems / "examples", dsl / "examples", extension}));
  const fs::path operations_file = problems / "operations.json";
  KW_TRY(const std::string operations, read_file(operations_file));
  KW_TRY(const Json words, parse_json(operations, operations_file.string()));
  KW_TRY(library.operation_words_, read_fields(operations_file.string(), [&] { return words.at("words").get<OperationWords>(); }));
  return library;
}

Result<const PromptTemplate*> Library::prompt(const std::string& role, bool compact) const {
  auto found = compact ? prompts_.find(role + ".compact") : prompts_.end();
  if (found == prompts_.end()) found = prompts_.find(role);
  if (found == prompts_.end())
    return bad_input(fmt::format("there is no prompts/{}.md", role), "the installation is incomplete: set KERNELWRIGHT_ROOT");
  return &found->second;
}

std::string Library::advice(const std::string& workload_class, bool compact) const {
  const std::string name = advice_class(workload_class);
  const auto brief = advice_.find(name + "/In short"), more = advice_.find(name + "/In full");
  if (brief == advice_.end()) return "";
  return compact || more == advice_.end() ? brief->second : brief->second + "\n" + more->second;
}

std::string Library::zone_guidance(const std::string& zone) const {
  const auto found = zones_.find(zone);
  return found == zones_.end() ? "" : found->second;
}

namespace {

// How far an example is from a problem. The machine's features are in none of the examples and do not count.
double distance_of(const WorkedExample& example, const std::string& workload_class, const Features& features,
                   const std::vector<WorkedExample>& all) {
  Features of_problems;
  for (const auto& feature : features)
    if (std::any_of(all.begin(), all.end(), [&](const WorkedExample& each) { return each.features.contains(feature.first); }))
      of_problems.insert(feature);
  const std::string main = workload_class.substr(0, workload_class.find(" + "));
  const bool same = example.workload_class == main, related = advice_class(example.workload_class) == advice_class(main);
  return (same ? 0 : related ? 100 : 200) + feature_distance(example.features, of_problems);
}

}  // namespace

const WorkedExample& Library::example(const std::string& workload_class, const Features& features) const {
  const auto distance = [&](const WorkedExample& each) { return distance_of(each, workload_class, features, examples_); };
  return *std::min_element(examples_.begin(), examples_.end(),
                           [&](const WorkedExample& a, const WorkedExample& b) { return distance(a) < distance(b); });
}

std::pair<const WorkedExample*, const WorkedExample*> Library::plain_examples(const std::string& workload_class,
                                                                              const Features& features) const {
  std::vector<const WorkedExample*> plain;
  for (const WorkedExample& each : examples_)
    if (!each.plain_source.empty()) plain.push_back(&each);
  const auto distance = [&](const WorkedExample* each) { return distance_of(*each, workload_class, features, examples_); };
  return {plain.front(), *std::min_element(plain.begin() + 1, plain.end(), [&](const WorkedExample* a, const WorkedExample* b) {
            return distance(a) < distance(b);
          })};
}

}  // namespace kw
