#include "dsl/recording.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{64} << 30;
constexpr std::size_t kMostSteps = 10000, kMostParameters = 512, kLongestValue = 64;

Error untrue(const std::string& what) { return bad_input("the compile step's recording is damaged: " + what, "run it again"); }

bool is_kernel_name(const std::string& name) {
  return !name.empty() && name.size() < 4000 && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; });
}

class Reader {
 public:
  Reader(const Json& json, const ProblemDescription& problem) : json_(json), arguments_(problem.arguments()) {}

  Result<Recording> read() {
    std::uint64_t all = 0;
    for (const Json& each : json_.at("memories")) {
      made_.memories.push_back(each.get<std::uint64_t>());
      all += std::min(made_.memories.back(), kMostMemory);
      if (all > kMostMemory) return bad_input("launch() asks for more than 64 GiB of memory", "allocate less in launch()");
    }
    for (const Json& each : json_.at("modules")) {
      RecordedModule module{each.at("file").get<std::string>(), each.at("kernel").get<std::string>()};
      const std::string stem = fmt::format("module{}.", made_.modules.size());
      if (module.file != stem + "ptx" && module.file != stem + "cu") return untrue("a module's file");
      if (!is_kernel_name(module.kernel)) return untrue("a kernel's name");
      made_.modules.push_back(std::move(module));
    }
    made_.facts = Json::object();
    for (const auto& [kernel, fact] : json_.at("facts").items())
      made_.facts[kernel] = {{"registers", fact.at("registers").get<int>()},
                             {"spill_bytes", fact.value("spill_bytes", 0)},
                             {"stack_bytes", fact.value("stack_bytes", 0)},
                             {"shared_bytes", fact.value("shared_bytes", 0)}};
    if (json_.at("steps").size() > kMostSteps)
      return bad_input(fmt::format("launch() launches more than {} kernels", kMostSteps), "do more in each of them");
    for (const Json& each : json_.at("steps")) KW_CHECK(read_step(each));
    return std::move(made_);
  }

 private:
  [[nodiscard]] Result<RecordedPlace> place_of(const Json& json, std::uint64_t bytes) const {
    RecordedPlace place;
    place.argument = json.contains("argument");
    place.index = json.at(place.argument ? "argument" : "memory").get<std::size_t>();
    place.offset = json.at("offset").get<std::uint64_t>();
    if (place.index >= (place.argument ? arguments_.size() : made_.memories.size())) return untrue("an argument's number");
    if (place.argument && arguments_[place.index]->kind == TensorKind::scalar) return untrue("a scalar's address");
    const std::uint64_t whole = place.argument ? arguments_[place.index]->span_bytes() : made_.memories[place.index];
    if (place.offset > whole || bytes > whole - place.offset) return untrue("a place outside of its tensor");
    return place;
  }

  [[nodiscard]] Result<RecordedValue> value_of(const Json& json) const {
    RecordedValue value;
    if (json.contains("bytes")) {
      const auto hex = json.at("bytes").get<std::string>();
      if (hex.size() % 2 != 0 || hex.size() > 2 * kLongestValue || hex.empty() ||
          hex.find_first_not_of("0123456789abcdef") != std::string::npos)
        return untrue("a parameter's bytes");
      for (std::size_t i = 0; i < hex.size(); i += 2) value.bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
      return value;
    }
    if (json.contains("scalar")) {
      value.scalar = json.at("scalar").get<std::size_t>();
      value.type = json.at("type").get<std::string>();
      if (*value.scalar >= arguments_.size() || arguments_[*value.scalar]->kind != TensorKind::scalar ||
          (value.type != "fp32" && value.type != "fp64"))
        return untrue("a scalar");
      return value;
    }
    KW_TRY(value.place, place_of(json, 0));
    return value;
  }

  Status read_step(const Json& json) {
    RecordedStep step;
    step.fill = json.at("do").get<std::string>() == "fill";
    if (step.fill) {
      step.bytes = json.at("bytes").get<std::uint64_t>();
      step.byte = json.at("byte").get<std::uint8_t>();
      KW_TRY(step.place, place_of(json, step.bytes));
      made_.steps.push_back(std::move(step));
      return {};
    }
    step.module = json.at("module").get<std::size_t>();
    step.grid = json.at("grid").get<std::vector<std::uint32_t>>();
    step.block = json.at("block").get<std::vector<std::uint32_t>>();
    step.shared = json.at("shared").get<std::uint32_t>();
    step.cooperative = json.at("cooperative").get<bool>();
    if (step.module >= made_.modules.size() || step.grid.size() != 3 || step.block.size() != 3) return untrue("a launch");
    if (json.at("arguments").size() > kMostParameters) return untrue("the parameters of a launch");
    for (const Json& each : json.at("arguments")) {
      KW_TRY(RecordedValue value, value_of(each));
      step.arguments.push_back(std::move(value));
    }
    made_.steps.push_back(std::move(step));
    return {};
  }

  const Json& json_;
  std::vector<const TensorSpec*> arguments_;
  Recording made_;
};

std::string place_text(const RecordedPlace& place) {
  return fmt::format("{}[{}] + {}", place.argument ? "argument" : "memory", place.index, place.offset);
}

std::string launch_text(const RecordedStep& step, const std::string& kernel) {
  std::string text = "  {\n";
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const RecordedValue& value = step.arguments[i];
    const std::string name = fmt::format("p{}", i);
    if (value.place) {
      text += fmt::format("    char* {} = {};\n", name, place_text(*value.place));
    } else if (value.scalar) {
      const char* type = value.type == "fp32" ? "float" : "double";
      text += fmt::format("    {0} {1} = static_cast<{0}>(*reinterpret_cast<const double*>(argument[{2}]));\n", type, name,
                          *value.scalar);
    } else {
      std::vector<int> bytes;
      for (const char c : value.bytes) bytes.push_back(static_cast<unsigned char>(c));
      text += fmt::format("    alignas(8) unsigned char {}[{}] = {{{}}};\n", name, bytes.size(), fmt::join(bytes, ", "));
    }
    addresses.push_back("&" + name);
  }
  if (addresses.empty()) addresses.emplace_back("nullptr");
  text += fmt::format("    void* parameters[] = {{{}}};\n", fmt::join(addresses, ", "));
  if (step.shared > 48 * 1024) text += fmt::format("    cudaFuncSetAttribute({}, kw_dynamic_shared, {});\n", kernel, step.shared);
  text += fmt::format("    {}({}, {{{}}}, {{{}}}, parameters, {}, nullptr);\n",
                      step.cooperative ? "cudaLaunchCooperativeKernel" : "cudaLaunchKernel", kernel, fmt::join(step.grid, ", "),
                      fmt::join(step.block, ", "), step.shared);
  return text + "  }\n";
}

}  // namespace

Result<std::variant<Recording, RecordingRefusal>> read_recording(const std::string& text, const ProblemDescription& problem) {
  using Outcome = std::variant<Recording, RecordingRefusal>;
  KW_TRY(const Json json, parse_json(text, "the compile step's recording"));
  auto read = read_fields("the compile step's recording", [&]() -> Result<Outcome> {
    if (json.contains("refused")) {
      const Json& refused = json.at("refused");
      RecordingRefusal refusal;
      refusal.message = refused.at("message").get<std::string>();
      refusal.hint = refused.at("hint").get<std::string>();
      refusal.line = refused.at("line").get<int>();
      if (refused.at("verdict").get<std::string>() == "forbidden") refusal.verdict = Verdict::forbidden;
      return Outcome(std::move(refusal));
    }
    KW_TRY(Recording recording, Reader(json, problem).read());
    return Outcome(std::move(recording));
  });
  if (!read) return read.error();
  return std::move(*read);
}

std::string kw_call_text(const Recording& recording, const std::vector<std::string>& kernels) {
  std::string text =
      "extern \"C\" __attribute__((visibility(\"default\"), used)) void kw_call(void*, void* const* slots) {\n"
      "  char* const* argument = reinterpret_cast<char* const*>(slots);\n  (void)argument;\n";
  const std::size_t count = recording.memories.size();
  if (count > 0) text += fmt::format("  char* memory[{}] = {{}};\n", count);
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("  cudaMalloc(reinterpret_cast<void**>(&memory[{}]), {});\n", i, recording.memories[i]);
  for (const RecordedStep& step : recording.steps)
    text += step.fill ? fmt::format("  cudaMemset({}, {}, {});\n", place_text(step.place), step.byte, step.bytes)
                      : launch_text(step, kernels.at(step.module));
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("  cudaFree(memory[{}]);\n", i);
  return text + "}\n";
}

}  // namespace kw
