#include "playbook/user_names.h"

#include <array>
#include <cctype>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace kw {
namespace {

// The oracle's names have no two underscores in a row.
constexpr std::string_view kOpen = "user__", kClose = "__z";

// The oracle gives no tensor a word of a language for a name.
// What a text need not say for it to be taken: Triton compiles launches as functions of its own, whose names these are.
constexpr std::array kTritonWords{
    "params",         "options",     "specialization", "backend", "specialize_impl", "specialize_extra", "grid",
    "warmup",         "debug",       "stream",         "device",  "num_ctas",        "maxnreg",          "native_specialize_impl",
    "constexpr_type", "JITCallable", "dtype2str",      "np"};
// Functions and variables of the CUDA-C that TileLang lowers a kernel to.
constexpr std::array kTileLangWords{"threadIdx",  "blockIdx", "blockDim", "gridDim", "warpSize",    "half_t",
                                    "bfloat16_t", "uint",     "uchar",    "ushort",  "ulong",       "tl",
                                    "cutlass",    "cute",     "half",     "min",     "max",         "exp",
                                    "expf",       "log",      "sqrt",     "main",    "main_kernel", "buf_dyn_shmem"};
bool is_python(TextLanguage language) { return language == TextLanguage::triton || language == TextLanguage::tilelang; }

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Word {
  std::string text;
  bool of_something = false;  // a member: what it is called meets no variable
  bool of_struct = false;     // behind an arrow
};

// Goes over a text: `plain` gets what stands between words, comments and strings included.
void for_each_word(const std::string& text, TextLanguage language, const std::function<void(std::string_view)>& plain,
                   const std::function<void(const Word&)>& word) {
  const std::string_view comment = is_python(language) ? "#" : "//";
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    if (text.compare(at, comment.size(), comment) == 0) {
      end = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"' || (text[at] == '\'' && is_python(language))) {
      end = text.find(text[at], at + 1);
      end = end == std::string::npos ? text.size() : end + 1;
    } else if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      while (end < text.size() && in_word(text[end])) ++end;
    } else if (in_word(text[at])) {
      while (end < text.size() && in_word(text[end])) ++end;
      const bool arrow = at >= 2 && text.compare(at - 2, 2, "->") == 0;
      const bool scoped = at >= 2 && text.compare(at - 2, 2, "::") == 0;
      word({text.substr(at, end - at), arrow || scoped || (at >= 1 && text[at - 1] == '.'), arrow});
      at = end;
      continue;
    } else {
      end = at + 1;
    }
    plain(std::string_view(text).substr(at, end - at));
    at = end;
  }
}

std::set<std::string> words_of(TextLanguage language) {
  std::set<std::string> words;
  const auto add = [&](std::span<const char* const> more) { words.insert(more.begin(), more.end()); };
  if (language == TextLanguage::triton) add(kTritonWords);
  if (language == TextLanguage::tilelang) add(kTileLangWords);
  return words;
}

std::string first_free(const std::string& wanted, const std::set<std::string>& taken) {
  if (!taken.contains(wanted)) return wanted;
  std::string name = wanted + "_";
  for (int number = 2; taken.contains(name); ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

}  // namespace

ProblemDescription with_marked_names(ProblemDescription problem) {
  for (auto* specs : {&problem.inputs, &problem.parameters, &problem.outputs})
    for (TensorSpec& spec : *specs) spec.c_name = fmt::format("{}{}{}", kOpen, spec.c_name, kClose);
  return problem;
}

std::string unmarked(const std::string& name) {
  const bool marked = name.size() > kOpen.size() + kClose.size() && name.starts_with(kOpen) && name.ends_with(kClose);
  return marked ? name.substr(kOpen.size(), name.size() - kOpen.size() - kClose.size()) : name;
}

std::size_t length_without_marks(const std::string& text) {
  std::size_t length = text.size();
  for (std::size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at + kOpen.size()))
    length -= kOpen.size() + kClose.size();
  return length;
}

std::set<std::string> names_of_tensors(const ProblemDescription& problem) {
  std::set<std::string> names;
  for (const auto* spec : problem.arguments())
    for (const char* suffix : {"", "_shape", "_strides", "_numel"})
      names.insert({spec->c_name + suffix, unmarked(spec->c_name) + suffix});
  return names;
}

NamedText with_final_names(const std::string& text, const ProblemDescription& marked, TextLanguage language) {
  const auto specs = marked.arguments();
  std::set<std::string> taken = words_of(language);
  for_each_word(
      text, language, [](std::string_view) {},
      [&](const Word& word) {
        if (!word.of_something && word.text.find(kOpen) == std::string::npos) taken.insert(word.text);
      });
  NamedText named;
  std::map<std::string, std::string> final_names;  // of marked names, and of names that are made of one
  for (const auto* spec : specs) {
    const std::string own = unmarked(spec->c_name), name = first_free(own, taken);
    taken.insert(name);
    final_names[spec->c_name] = name;
    if (name != own) named.changed[own] = name;
  }
  const auto name_of = [&](const std::string& word) -> const std::string& {
    if (const auto known = final_names.find(word); known != final_names.end()) return known->second;
    std::string made = word;
    for (const auto* spec : specs)
      if (const auto at = word.find(spec->c_name); at != std::string::npos)
        made = word.substr(0, at) + unmarked(spec->c_name) + word.substr(at + spec->c_name.size());
    made = first_free(made, taken);
    taken.insert(made);
    return final_names[word] = made;
  };
  for_each_word(
      text, language, [&](std::string_view plain) { named.text += plain; },
      [&](const Word& word) {
        if (word.text.find(kOpen) == std::string::npos)
          named.text += word.text;
        else
          named.text += word.of_struct ? unmarked(word.text) : name_of(word.text);
      });
  return named;
}

}  // namespace kw
