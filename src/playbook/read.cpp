#include "playbook/read.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/halves.h"
#include "playbook/reach.h"
#include "record/layout.h"

namespace kw {
namespace {

bool draws_random_numbers(const std::string& op) {
  return op.starts_with("aten.rand") || op.starts_with("aten.normal") || op.starts_with("aten.bernoulli") ||
         op.starts_with("aten.uniform");
}

const OpRow* row_of(const std::string& op) {
  static const std::map<std::string, const OpRow*> rows = [] {
    std::map<std::string, const OpRow*> all;
    for (const auto table :
         {pointwise_ops(), activation_ops(), view_ops(), reduce_ops(), norm_ops(), loss_ops(), lookup_ops(), scan_ops(),
          window_ops(), arg_ops(), product_ops(), convolution_ops(), interpolate_ops(), cell_ops(), recurrent_ops()})
      for (const auto& row : table) all.emplace(row.op, &row);
    return all;
  }();
  if (const auto found = rows.find(op); found != rows.end()) return found->second;
  // PyTorch's rules for rare operations end in primitives: of one element each, they are called as ATen's.
  static const std::set<std::string> of_one_element{"abs",        "add",   "ceil",    "cos",     "div", "eq",   "erf",   "exp",
                                                    "exp2",       "expm1", "floor",   "ge",      "gt",  "le",   "log",   "log1p",
                                                    "log2",       "lt",    "maximum", "minimum", "mul", "ne",   "neg",   "pow",
                                                    "reciprocal", "rsqrt", "sin",     "sqrt",    "sub", "tanh", "trunc", "where"};
  if (!op.starts_with("prims.") || !op.ends_with(".default")) return nullptr;
  const std::string name = op.substr(6, op.size() - 6 - std::string_view(".default").size());
  if (!of_one_element.contains(name)) return nullptr;
  for (const char* form : {".default", ".Tensor", ".Tensor_Tensor", ".self"})
    if (const auto found = rows.find("aten." + name + form); found != rows.end()) return found->second;
  return nullptr;
}

DType known_dtype(const std::string& name) {
  auto dtype = dtype_from_torch_name(name);
  if (!dtype) throw ReadError{dtype.error().message};
  return *dtype;
}

const Json& null_argument() {
  static const Json null;
  return null;
}

// The number that an argument is, if it is one.
bool number_in(const Json& argument, double& number) {
  if (const auto found = argument.find("float"); found != argument.end()) {
    const auto text = found->get<std::string>();
    number = text == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (text == "-inf") number = -number;
    return true;
  }
  const auto found = argument.find("const");
  if (found == argument.end() || !(found->is_number() || found->is_boolean())) return false;
  number = found->is_boolean() ? (found->get<bool>() ? 1 : 0) : found->get<double>();
  return true;
}

}  // namespace

NodeReader::NodeReader(Graph& into, const Json& of, const std::map<std::string, NodeValues>& known,
                       const std::map<std::string, ValueId>& scalars)
    : graph(into), node(of), known_(known), scalars_(scalars) {}

std::string NodeReader::op() const { return node.at("op").get<std::string>(); }

std::size_t NodeReader::count() const { return node.at("args").size(); }

const Json& NodeReader::argument(std::size_t position) const {
  return position < count() ? node.at("args")[position] : null_argument();
}

const Json* NodeReader::keyword(const std::string& name) const {
  const auto found = node.at("kwargs").find(name);
  return found == node.at("kwargs").end() ? nullptr : &*found;
}

static bool is_none_entry(const Json& given) { return given.is_null() || (given.contains("const") && given["const"].is_null()); }

bool NodeReader::is_none(std::size_t position) const { return is_none_entry(argument(position)); }

bool NodeReader::is_tensor(std::size_t position) const { return argument(position).contains("ref"); }

ValueId NodeReader::value_of(const Json& given) const {
  if (const auto ref = given.find("ref"); ref != given.end()) {
    const auto found = known_.find(ref->get<std::string>());
    if (found == known_.end() || found->second.empty()) throw ReadError{fmt::format("its operand {} is unknown", ref->dump())};
    return found->second[0];
  }
  if (const auto scalar = given.find("scalar"); scalar != given.end()) {
    const auto found = scalars_.find(scalar->get<std::string>());
    if (found == scalars_.end()) throw ReadError{fmt::format("the number {} is no argument", scalar->dump())};
    return found->second;
  }
  double number = 0;
  if (!number_in(given, number)) throw ReadError{fmt::format("{} is no tensor and no number", given.dump())};
  const bool is_const = given.contains("const");
  const DType dtype = is_const && given["const"].is_boolean()          ? DType::boolean
                      : is_const && given["const"].is_number_integer() ? DType::i64
                                                                       : DType::f64;
  return graph.constant(number, dtype);
}

ValueId NodeReader::tensor(std::size_t position) const {
  if (!is_tensor(position)) throw ReadError{fmt::format("argument {} is no tensor", position)};
  return value_of(argument(position));
}

ValueId NodeReader::operand(std::size_t position) const { return value_of(argument(position)); }

double NodeReader::number(std::size_t position) const {
  double number = 0;
  if (!number_in(argument(position), number)) throw ReadError{fmt::format("argument {} is no constant number", position)};
  return number;
}

std::int64_t NodeReader::integer(std::size_t position) const { return static_cast<std::int64_t>(number(position)); }
bool NodeReader::boolean(std::size_t position) const { return number(position) != 0; }

std::string NodeReader::string(std::size_t position) const {
  const Json& given = argument(position);
  if (!given.contains("const") || !given["const"].is_string()) throw ReadError{fmt::format("argument {} is no text", position)};
  return given["const"].get<std::string>();
}

std::vector<std::int64_t> NodeReader::integers(std::size_t position) const {
  const Json& given = argument(position);
  const auto list = given.find("list");
  if (list == given.end()) return {integer(position)};
  std::vector<std::int64_t> all;
  for (const auto& item : *list) {
    double number = 0;
    if (!number_in(item, number)) throw ReadError{fmt::format("argument {} has an element that is no number", position)};
    all.push_back(static_cast<std::int64_t>(number));
  }
  return all;
}

std::vector<ValueId> NodeReader::tensors(std::size_t position) const {
  const Json& given = argument(position);
  if (!given.contains("list")) throw ReadError{fmt::format("argument {} is no list of tensors", position)};
  std::vector<ValueId> all;
  for (const auto& item : given["list"])
    if (!is_none_entry(item)) all.push_back(value_of(item));
  return all;
}

int NodeReader::dim(std::size_t position, std::size_t rank) const {
  const std::int64_t given = integer(position);
  const auto signed_rank = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
  return static_cast<int>(given < 0 ? given + signed_rank : given);
}

Shape NodeReader::shape() const { return node.at("shape").get<Shape>(); }
DType NodeReader::dtype() const { return known_dtype(node.at("dtype").get<std::string>()); }

const NodeValues& NodeReader::results(std::size_t position) const {
  const auto found = known_.find(argument(position).at("ref").get<std::string>());
  if (found == known_.end()) throw ReadError{"its operand is unknown"};
  return found->second;
}

namespace {

ValueId argument_value(Graph& graph, const TensorSpec& spec) {
  Value value;
  value.kind = spec.kind == TensorKind::scalar ? ValueKind::scalar : ValueKind::argument;
  value.dtype = spec.dtype;
  value.shape = spec.shape;
  value.strides = spec.strides;
  value.name = spec.c_name;
  value.parameter = spec.kind == TensorKind::parameter || spec.kind == TensorKind::buffer || spec.kind == TensorKind::attribute;
  return graph.add(std::move(value));
}

ValueId table_value(Graph& graph, const Json& node) {
  Value value;
  value.kind = ValueKind::table;
  value.dtype = known_dtype(node.at("dtype").get<std::string>());
  value.shape = node.at("shape").get<Shape>();
  for (const auto& item : node.at("values")) {
    double number = 0;
    if (!number_in(item, number)) throw ReadError{"an element of it is no number"};
    value.numbers.push_back(number);
  }
  if (value.numbers.size() == 1) {
    const Shape shape = value.shape;
    return graph.expand(graph.constant(value.numbers[0], value.dtype), shape);
  }
  return graph.add(std::move(value));
}

constexpr const char* kOthersMayWrite =
    "let a model write kernels: add --model NAME ('kernelwright model fetch' gets one for this machine); or judge a kernel of your "
    "own: kernelwright measure PROBLEM KERNEL.cpp";

bool mentions(const Json& argument, const std::set<std::string>& names) {
  if (argument.is_object()) {
    if (const auto ref = argument.find("ref"); ref != argument.end() && names.contains(ref->get<std::string>())) return true;
    if (const auto list = argument.find("list"); list != argument.end())
      return std::ranges::any_of(*list, [&](const Json& item) { return mentions(item, names); });
  }
  return false;
}

bool depends_on(const Json& node, const std::set<std::string>& names) {
  const auto is_named = [&](const Json& argument) { return mentions(argument, names); };
  return std::ranges::any_of(node.at("args"), is_named) || std::ranges::any_of(node.at("kwargs"), is_named);
}

// `unread` gets the operations that there is no row for, or that their row does not take as they are.
Result<ReadProblem> read_nodes(const ProblemDescription& problem, std::set<std::string>& unread) {
  ReadProblem read;
  std::map<std::string, ValueId> tensors;
  std::map<std::string, ValueId> scalars;
  for (const auto* group : {&problem.inputs, &problem.parameters})
    for (const auto& spec : *group)
      (spec.kind == TensorKind::scalar ? scalars : tensors)[spec.name] = argument_value(read.graph, spec);
  std::map<std::string, NodeValues> known;
  std::vector<std::string> unknown, unreadable;
  std::set<std::string> missing;  // nodes that were not read, and what is computed from them
  for (const auto& node : problem.graph.at("nodes")) {
    const auto name = node.at("name").get<std::string>();
    const auto kind = node.at("kind").get<std::string>();
    read.graph.set_origin(name);
    try {
      if (kind == "placeholder") {
        const auto tensor = node.find("tensor");
        if (tensor == node.end() || !tensor->is_string()) continue;  // a number or None: used through {"scalar": ...} or not at all
        if (const auto found = tensors.find(tensor->get<std::string>()); found != tensors.end()) known[name] = {found->second};
      } else if (kind == "constant") {
        known[name] = {table_value(read.graph, node)};
      } else {
        const NodeReader reader(read.graph, node, known, scalars);
        const OpRow* row = row_of(reader.op());
        if (row == nullptr) {
          unknown.push_back(fmt::format("{} (node {})", reader.op(), name));
          unread.insert(reader.op());
        }
        if (row == nullptr || depends_on(node, missing)) {
          missing.insert(name);
          continue;
        }
        known[name] = row->read(reader);
      }
    } catch (const ReadError& error) {
      missing.insert(name);
      unread.insert(node.value("op", kind));
      unreadable.push_back(fmt::format("node {} ({}): {}", name, node.value("op", kind), error.message));
    }
  }
  if (!missing.empty()) {
    const bool draws = std::ranges::any_of(unread, draws_random_numbers);
    std::vector<std::string> reasons;
    if (!unknown.empty()) reasons.push_back(fmt::format("the playbook does not know {}", fmt::join(unknown, ", ")));
    if (!unreadable.empty()) reasons.push_back(fmt::format("the playbook cannot read {}", fmt::join(unreadable, "; ")));
    return bad_input(
        fmt::format("{}", fmt::join(reasons, "; ")),
        draws ? "forward() draws random numbers, which no kernel can repeat: take them as inputs, or make them in __init__"
              : kOthersMayWrite);
  }
  for (const auto& output : problem.graph.at("outputs")) {
    const auto found = known.find(output.get<std::string>());
    if (found == known.end()) return bad_input(fmt::format("the graph's output {} is no node of it", output.dump()));
    if (found->second.empty())
      return bad_input(fmt::format("the playbook does not compute the output {}", output.dump()),
                       "leave this problem to another coder");
    read.outputs.push_back(found->second[0]);
  }
  if (read.outputs.size() != problem.outputs.size())
    return bad_input(fmt::format("the graph has {} outputs, the problem {}", read.outputs.size(), problem.outputs.size()));
  for (std::size_t i = 0; i < read.outputs.size(); ++i) {
    const auto& spec = problem.outputs[i];
    if (read.graph.shape(read.outputs[i]) != spec.shape)
      return internal_error(fmt::format("the playbook read another shape for output {} than it has", spec.name));
    // As it lies in memory: what writes an output knows contiguous ones only.
    read.outputs[i] = read.graph.permute(read.graph.cast(read.outputs[i], spec.dtype), memory_order(spec));
  }
  WidenedGraph wide = widened(read.graph, read.outputs);
  return ReadProblem{std::move(wide.graph), std::move(wide.outputs)};
}

}  // namespace

std::vector<ValueId> apart(Graph& graph, const std::vector<ValueId>& outputs) {
  std::vector<ValueId> result;
  std::set<ValueId> taken;
  for (ValueId output : outputs) {
    if (!taken.insert(behind_reshapes(graph, output)).second) {
      Value copy;
      copy.kind = ValueKind::pointwise;
      copy.dtype = graph.dtype(output);
      copy.shape = graph.shape(output);
      copy.operands = {output};
      copy.fn = "cast";
      copy.name = fmt::format("copy{}", result.size());
      output = graph.add(std::move(copy));
    }
    result.push_back(output);
  }
  return result;
}

Result<ReadProblem> read_graph(const ProblemDescription& problem) {
  if (problem.graph.is_null())
    return bad_input(fmt::format("{} has no graph: {}", problem.name, problem.graph_error), kOthersMayWrite);
  std::set<std::string> unread;
  auto read = read_fields("the graph of " + problem.name, [&] { return read_nodes(problem, unread); });
  if (!read) return read.error();
  return std::move(*read);
}

std::set<std::string> unread_operations(const ProblemDescription& problem) {
  std::set<std::string> unread;
  if (!problem.graph.is_null()) (void)read_fields("the graph of " + problem.name, [&] { return read_nodes(problem, unread); }).ok();
  return unread;
}

Result<ReadProblem> read_graph_without_recurrences(const ProblemDescription& problem) {
  KW_TRY(ReadProblem read, read_graph(problem));
  for (ValueId id = 0; id < read.graph.size(); ++id)
    if (const Value& value = read.graph.at(id); value.kind == ValueKind::recurrence)
      return bad_input(
          fmt::format("the playbook writes whole recurrent layers ({}, node {}) for CPUs in C++ only", value.fn, value.origin),
          "write the steps as a loop over cells, or use --dsl cpp");
  return read;
}

}  // namespace kw
