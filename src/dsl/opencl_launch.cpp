#include "dsl/opencl_launch.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/expression.h"
#include "dsl/cpp_text.h"
#include "dsl/opencl_header.h"

namespace kw {
namespace {

constexpr double kMostItems = 1e15;
constexpr std::uint64_t kMostScratch = std::uint64_t{16} << 30;
constexpr std::string_view kForm = "// kw:launch NAME global=SIZES local=SIZES, or groups=SIZES for the number of work-groups";

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

// At commas outside of parentheses.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts{""};
  int nesting = 0;
  for (const char c : text) {
    if (c == '(') ++nesting;
    if (c == ')') --nesting;
    if (c == ',' && nesting == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// Sizes of OpenCL's types for scratch; vectors are arrays of them.
const std::map<std::string, std::uint64_t>& scratch_types() {
  static const std::map<std::string, std::uint64_t> types{{"char", 1},   {"uchar", 1},   {"short", 2}, {"ushort", 2},
                                                          {"kw_f16", 2}, {"kw_bf16", 2}, {"int", 4},   {"uint", 4},
                                                          {"float", 4},  {"long", 8},    {"ulong", 8}, {"double", 8}};
  return types;
}

// A problem with one line of the file.
struct LineTrouble {
  std::string what, hint;
};

class LaunchReader {
 public:
  LaunchReader(const ProblemDescription& problem, const KernelSource& source) : source_(source) {
    read_.numbers = opencl_constants(problem);
    collect_macros();
  }

  OpenClRead<OpenClLaunches> whole() {
    static const std::regex directive(R"(^\s*//\s*kw:(launch|prepare|scratch)\b(.*)$)");
    std::istringstream lines(source_.text);
    std::smatch found;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.size() > 2000 || !std::regex_match(line, found, directive)) continue;
      const std::string what = found[1].str();
      const auto trouble =
          what == "scratch" ? scratch(trimmed(found[2].str())) : launch(trimmed(found[2].str()), what == "prepare", number);
      if (trouble) return {{}, {"launch", trouble->what, fmt::format("{}:{}", source_.file, number), {}, trouble->hint, ""}};
    }
    if (std::none_of(read_.launches.begin(), read_.launches.end(), [](const OpenClLaunch& each) { return !each.prepare; }))
      return {{},
              {"launch",
               "the file has no launch line, so that nothing would run",
               source_.file,
               {},
               fmt::format("add one above a kernel: {}", kForm),
               ""}};
    return {std::move(read_), {}};
  }

 private:
  // Macros without parameters. Of a name with several values the launch lines cannot know which one counts.
  void collect_macros() {
    static const std::regex define(R"(^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+(.+)$)");
    std::istringstream lines(code_only(source_.text));
    std::smatch found;
    for (std::string line; std::getline(lines, line);)
      if (line.size() < 2000 && std::regex_match(line, found, define)) macros_[found[1].str()].push_back(trimmed(found[2].str()));
    for (const auto& [name, value] : source_.knobs) macros_[name] = {value};
  }

  Result<double> number(const std::string& text, int nesting = 0) {
    if (nesting > 16) return bad_input(fmt::format("'{}' is defined by itself", text));
    KW_TRY(const Expression expression, Expression::parse(text));
    std::map<std::string, double> names;
    for (const std::string& name : expression.names()) {
      if (const auto known = read_.numbers.find(name); known != read_.numbers.end()) {
        names[name] = static_cast<double>(known->second);
        continue;
      }
      const auto macro = macros_.find(name);
      if (macro == macros_.end()) return bad_input(fmt::format("nothing is called '{}'", name));
      const auto& values = macro->second;
      if (std::any_of(values.begin(), values.end(), [&](const std::string& each) { return each != values.front(); }))
        return bad_input(fmt::format("'{}' is defined in several ways", name));
      KW_TRY(names[name], number(values.front(), nesting + 1));
      read_.numbers[name] = static_cast<std::int64_t>(names[name]);
    }
    return expression.whole_value(names);
  }

  std::optional<LineTrouble> sizes(const std::string& text, std::array<std::uint64_t, 3>& into) {
    const auto parts = split_list(text);
    if (parts.size() > 3) return LineTrouble{"a launch has at most three sizes", std::string(kForm)};
    for (std::size_t d = 0; d < parts.size(); ++d) {
      const auto value = number(parts[d]);
      if (!value)
        return LineTrouble{fmt::format("the size '{}' has no value: {}", parts[d], value.error().message),
                           "sizes are made of the constants of problem.h (x_numel, x_dim0, ...), knobs and macros of the file"};
      if (*value < 1 || *value > kMostItems)
        return LineTrouble{fmt::format("the size '{}' is {}", parts[d], *value), "sizes are whole numbers from 1 on"};
      into[d] = static_cast<std::uint64_t>(*value);
    }
    return std::nullopt;
  }

  std::optional<LineTrouble> launch(const std::string& text, bool prepare, int line) {
    static const std::regex form(R"(^([A-Za-z_]\w*)\s*(\((.*?)\))?\s+(global|groups)\s*=\s*(.+?)\s+local\s*=\s*(.+)$)");
    std::smatch found;
    if (!std::regex_match(text, found, form))
      return LineTrouble{fmt::format("this launch line cannot be read: {}", text.substr(0, 80)), std::string(kForm)};
    OpenClLaunch launch;
    launch.line = line;
    launch.prepare = prepare;
    launch.kernel = found[1].str();
    if (found[2].matched)
      launch.arguments = trimmed(found[3].str()).empty() ? std::vector<std::string>{} : split_list(found[3].str());
    if (auto trouble = sizes(found[6].str(), launch.local)) return trouble;
    if (auto trouble = sizes(found[5].str(), launch.global)) return trouble;
    for (std::size_t d = 0; d < 3; ++d) {
      if (found[4].str() == "groups") {
        launch.global[d] *= launch.local[d];
      } else if (launch.global[d] % launch.local[d] != 0) {
        return LineTrouble{fmt::format("the global size {} of dimension {} is no multiple of the local size {}", launch.global[d],
                                       d, launch.local[d]),
                           "round it up, or say groups=(SIZE + LOCAL - 1) / LOCAL, and let work-items past the end return"};
      }
    }
    read_.launches.push_back(std::move(launch));
    return std::nullopt;
  }

  std::optional<LineTrouble> scratch(const std::string& text) {
    constexpr std::string_view kScratchForm = "// kw:scratch NAME TYPE COUNT, as in // kw:scratch sums float x_dim0";
    static const std::regex form(R"(^([A-Za-z_]\w*)\s+(\w+)\s+(.+)$)");
    std::smatch found;
    if (!std::regex_match(text, found, form))
      return LineTrouble{fmt::format("this scratch line cannot be read: {}", text.substr(0, 80)), std::string(kScratchForm)};
    const auto type = scratch_types().find(found[2].str());
    if (type == scratch_types().end()) {
      std::vector<std::string> known;
      for (const auto& [name, bytes] : scratch_types()) known.push_back(name);
      return LineTrouble{fmt::format("scratch has no type '{}'", found[2].str()), fmt::format("one of {}", fmt::join(known, ", "))};
    }
    std::array<std::uint64_t, 3> count{1, 1, 1};
    if (auto trouble = sizes(found[3].str(), count)) return trouble;
    OpenClScratch made{found[1].str(), found[2].str(), count[0] * count[1] * count[2] * type->second};
    if (made.bytes > kMostScratch)
      return LineTrouble{fmt::format("'{}' would be {} bytes", made.name, made.bytes), "at most 16 GiB"};
    if (std::any_of(read_.scratch.begin(), read_.scratch.end(), [&](const OpenClScratch& each) { return each.name == made.name; }))
      return LineTrouble{fmt::format("there are two scratch lines for '{}'", made.name), "give one of them another name"};
    read_.scratch.push_back(std::move(made));
    return std::nullopt;
  }

  const KernelSource& source_;
  std::map<std::string, std::vector<std::string>> macros_;
  OpenClLaunches read_;
};

// "float4*" is memory of floats.
std::string element_of(const std::string& type) {
  static const std::regex pointer(R"(^(?:const\s+)?((?:unsigned\s+)?\w+?)(2|3|4|8|16)?\s*\*$)");
  for (const char* half : {"kw_f16", "kw_bf16"})  // the number is a part of the name
    if (type == std::string(half) + "*" || type == std::string("const ") + half + "*") return half;
  std::smatch found;
  return std::regex_match(type, found, pointer) ? found[1].str() : "";
}

int bytes_of_value(const std::string& type) {
  static const std::map<std::string, int> sizes{{"char", 1},  {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},   {"uint", 4},
                                                {"float", 4}, {"long", 8},  {"ulong", 8}, {"double", 8}, {"size_t", 8}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? 0 : found->second;
}

class LaunchPlanner {
 public:
  LaunchPlanner(const ProblemDescription& problem, const KernelSource& source, const OpenClLaunches& read,
                const std::vector<opencl::KernelFacts>& kernels)
      : arguments_(problem.arguments()), source_(source), read_(read), kernels_(kernels) {}

  OpenClRead<opencl::LaunchPlan> whole() {
    opencl::LaunchPlan plan;
    for (const OpenClScratch& each : read_.scratch) plan.scratch_bytes.push_back(each.bytes);
    for (const OpenClLaunch& each : read_.launches) {
      opencl::Launch launch{each.kernel, each.prepare, each.global, each.local, {}};
      if (const auto trouble = fill(each, launch))
        return {{}, {"launch", trouble->what, fmt::format("{}:{}", source_.file, each.line), {}, trouble->hint, ""}};
      plan.launches.push_back(std::move(launch));
    }
    return {std::move(plan), {}};
  }

 private:
  [[nodiscard]] std::string known_names() const {
    std::vector<std::string> names;
    for (const auto* spec : arguments_) names.push_back(spec->c_name);
    for (const auto& scratch : read_.scratch) names.push_back(scratch.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::optional<LineTrouble> fill(const OpenClLaunch& line, opencl::Launch& launch) const {
    const auto facts = std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& each) { return each.name == line.kernel; });
    if (facts == kernels_.end()) {
      std::vector<std::string> names;
      for (const auto& each : kernels_) names.push_back(each.name);
      return LineTrouble{fmt::format("the launch line names '{}', but the file has no such kernel", line.kernel),
                         names.empty() ? "define it: __kernel void NAME(...)" : fmt::format("it has: {}", fmt::join(names, ", "))};
    }
    const std::uint64_t items = line.local[0] * line.local[1] * line.local[2];
    if (items > facts->most_work_items)
      return LineTrouble{
          fmt::format("a work-group of {} work-items is more than the device has room for ({})", items, facts->most_work_items),
          "choose smaller local sizes"};
    if (facts->required_local[0] != 0 && facts->required_local != line.local)
      return LineTrouble{fmt::format("'{}' asks for work-groups of {} in reqd_work_group_size", line.kernel,
                                     fmt::join(facts->required_local, ", ")),
                         "say the same in local="};
    if (line.arguments && line.arguments->size() != facts->parameters.size())
      return LineTrouble{fmt::format("'{}' has {} parameters, its launch line gives {}", line.kernel, facts->parameters.size(),
                                     line.arguments->size()),
                         "give one for each, or leave the list out: parameters then go by their names"};
    for (std::size_t p = 0; p < facts->parameters.size(); ++p) {
      const auto& parameter = facts->parameters[p];
      const std::string given = line.arguments ? (*line.arguments)[p] : parameter.name;
      opencl::Parameter made;
      if (auto trouble = give(line, parameter, given, made)) return trouble;
      launch.parameters.push_back(made);
    }
    return std::nullopt;
  }

  std::optional<LineTrouble> give(const OpenClLaunch& line, const opencl::ParameterFacts& parameter, const std::string& given,
                                  opencl::Parameter& made) const {
    const std::string what = fmt::format("parameter '{}' of '{}'", parameter.name, line.kernel);
    if (parameter.memory == "local")
      return LineTrouble{fmt::format("{} is __local memory, which launch lines cannot size", what),
                         "declare it in the kernel: __local float tile[SIZE];"};
    const bool pointer = parameter.memory != "private";
    const auto mismatch = [&](std::string_view holds) {
      return LineTrouble{fmt::format("{} is {}, but '{}' holds {}", what, parameter.type, given, holds),
                         "problem.h says of each tensor how a kernel takes it; vectors of its type are fine, too"};
    };
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const TensorSpec& spec = *arguments_[i];
      if (spec.c_name != given) continue;
      const bool scalar = spec.kind == TensorKind::scalar;
      const std::string_view type = scalar && spec.dtype == DType::boolean ? "int" : opencl_type(spec.dtype);
      if (scalar == pointer || (pointer ? element_of(parameter.type) : parameter.type) != type) return mismatch(type);
      if (line.prepare && (spec.kind == TensorKind::input || scalar || spec.kind == TensorKind::output))
        return LineTrouble{fmt::format("{} is '{}', which is no parameter of the module", what, given),
                           "what kw:prepare launches sees weights and scratch alone"};
      made = {scalar ? opencl::Gives::scalar : opencl::Gives::tensor, static_cast<int>(i), 0,
              scalar ? bytes_of_value(parameter.type) : 0};
      return std::nullopt;
    }
    for (std::size_t i = 0; i < read_.scratch.size(); ++i) {
      if (read_.scratch[i].name != given) continue;
      if (!pointer || element_of(parameter.type) != read_.scratch[i].type) return mismatch(read_.scratch[i].type);
      made = {opencl::Gives::scratch, static_cast<int>(i), 0, 0};
      return std::nullopt;
    }
    if (pointer || bytes_of_value(parameter.type) == 0 || parameter.type == "float" || parameter.type == "double")
      return LineTrouble{fmt::format("{} would get '{}', but nothing is called so", what, given),
                         fmt::format("there are: {}", known_names())};
    std::map<std::string, double> names;
    for (const auto& [name, value] : read_.numbers) names[name] = static_cast<double>(value);
    const auto expression = Expression::parse(given);
    const auto value = expression ? expression->whole_value(names) : Result<double>(expression.error());
    if (!value)
      return LineTrouble{fmt::format("{} would get '{}': {}", what, given, value.error().message),
                         fmt::format("give a number, or one of {}", known_names())};
    made = {opencl::Gives::number, 0, static_cast<std::int64_t>(*value), bytes_of_value(parameter.type)};
    return std::nullopt;
  }

  const std::vector<const TensorSpec*> arguments_;
  const KernelSource& source_;
  const OpenClLaunches& read_;
  const std::vector<opencl::KernelFacts>& kernels_;
};

}  // namespace

OpenClRead<OpenClLaunches> read_launches(const ProblemDescription& problem, const KernelSource& source) {
  return LaunchReader(problem, source).whole();
}

OpenClRead<opencl::LaunchPlan> plan_launches(const ProblemDescription& problem, const KernelSource& source,
                                             const OpenClLaunches& read, const std::vector<opencl::KernelFacts>& kernels) {
  return LaunchPlanner(problem, source, read, kernels).whole();
}

}  // namespace kw
