#include "search/part_problem.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

std::string python_text(const Json& argument, const std::set<std::string>& held) {
  if (const auto ref = argument.find("ref"); ref != argument.end()) {
    const auto name = ref->get<std::string>();
    return held.contains(name) ? "self." + name : name;
  }
  if (const auto list = argument.find("list"); list != argument.end()) {
    std::vector<std::string> items;
    for (const Json& item : *list) items.push_back(python_text(item, held));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (const auto dtype = argument.find("dtype"); dtype != argument.end()) return "torch." + dtype->get<std::string>();
  if (const auto number = argument.find("float"); number != argument.end())
    return fmt::format("float(\"{}\")", number->get<std::string>());
  const Json& value = argument.at("const");
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.dump();
}

// Where a tensor is and how it lies in memory is the file's own affair.
bool is_about_memory(const std::string& keyword) {
  static const std::set<std::string> all{"device", "layout", "pin_memory", "memory_format"};
  return all.contains(keyword);
}

std::string call_text(const Json& node, const std::set<std::string>& held) {
  const auto op = node.at("op").get<std::string>();
  const Json& args = node.at("args");
  if (op == "operator.getitem") return fmt::format("{}[{}]", python_text(args[0], held), python_text(args[1], held));
  std::vector<std::string> parts;
  for (const Json& argument : args) parts.push_back(python_text(argument, held));
  for (const auto& [name, argument] : node.at("kwargs").items())
    if (!is_about_memory(name)) parts.push_back(fmt::format("{}={}", name, python_text(argument, held)));
  return fmt::format("torch.ops.{}({})", op, fmt::join(parts, ", "));
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// Values of the size that layers are usually given: products keep about the size of what they multiply.
std::string drawn(const TensorSpec& spec) {
  const std::string shape = shape_text(spec.shape);
  if (spec.dtype == DType::boolean) return fmt::format("torch.rand({}) < 0.5", shape);
  if (!is_floating(spec.dtype)) return fmt::format("torch.zeros({}, dtype=torch.{})", shape, torch_name(spec.dtype));
  double fan_in = 1;
  for (std::size_t d = 1; d < spec.shape.size(); ++d) fan_in *= static_cast<double>(spec.shape[d]);
  std::string values = fmt::format("torch.randn({})", shape);
  if (spec.kind != TensorKind::input)
    values = spec.shape.size() <= 1 ? fmt::format("torch.rand({}) + 0.5", shape)
                                    : fmt::format("{} * {:.6g}", values, 1 / std::sqrt(fan_in));
  if (spec.dtype != DType::f32) values = fmt::format("({}).to(torch.{})", values, torch_name(spec.dtype));
  if (!spec.is_contiguous())
    values = fmt::format("torch.empty_strided({}, {}, dtype=torch.{}).copy_({})", shape, shape_text(spec.strides),
                         torch_name(spec.dtype), values);
  return values;
}

std::string constant_text(const Json& node) {
  std::vector<std::string> numbers;
  for (const Json& number : node.at("values")) numbers.push_back(python_text(number, {}));
  return fmt::format("torch.tensor([{}], dtype=torch.{}).reshape({})", fmt::join(numbers, ", "),
                     node.at("dtype").get<std::string>(), shape_text(node.at("shape").get<std::vector<std::int64_t>>()));
}

}  // namespace

std::string part_problem_text(const Part& part) {
  std::set<std::string> held;
  std::string made, computed;
  for (const TensorSpec& spec : part.problem.parameters) {
    held.insert(spec.name);
    const bool trained = spec.kind == TensorKind::parameter && is_floating(spec.dtype);
    made += trained ? fmt::format("        self.{} = nn.Parameter({})\n", spec.name, drawn(spec))
                    : fmt::format("        self.register_buffer(\"{}\", {})\n", spec.name, drawn(spec));
  }
  for (const Json& node : part.problem.graph.at("nodes")) {
    const auto kind = node.at("kind").get<std::string>();
    const auto name = node.at("name").get<std::string>();
    if (kind == "constant") {
      held.insert(name);
      made += fmt::format("        self.register_buffer(\"{}\", {})\n", name, constant_text(node));
    } else if (kind == "call") {
      computed += fmt::format("        {} = {}\n", name, call_text(node, held));
    }
  }
  std::vector<std::string> inputs, given, outputs;
  for (const TensorSpec& spec : part.problem.inputs) {
    inputs.push_back(spec.name);
    given.push_back(drawn(spec));
  }
  for (const Json& output : part.problem.graph.at("outputs")) outputs.push_back(output.get<std::string>());
  return fmt::format(
      "\"\"\"{}: a sub-problem that was cut from a problem of many layers.\"\"\"\n\nimport torch\nfrom torch import nn\n\n\n"
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{}\n"
      "    def forward(self, {}):\n{}        return {}\n\n\n"
      "def get_inputs():\n    return [{}]\n\n\ndef get_init_inputs():\n    return []\n",
      part.operations, made, fmt::join(inputs, ", "), computed, fmt::join(outputs, ", "), fmt::join(given, ", "));
}

Result<fs::path> write_part_problem(const Part& part) {
  const fs::path file = data_home() / "parts" / (part.hash + ".py");
  const std::string text = part_problem_text(part);
  if (auto known = read_file(file); known && *known == text) return file;
  KW_CHECK(make_folders(file.parent_path()));
  KW_CHECK(write_file_atomically(file, text));
  return file;
}

}  // namespace kw
