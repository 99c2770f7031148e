#include "agent/plain_words.h"

#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/brief.h"

namespace kw {
namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin), shape.begin() + static_cast<std::ptrdiff_t>(end),
                         std::int64_t{1}, std::multiplies<>());
}

// "aten.sum.dim_IntList" -> "sum"; "aten._softmax.default" -> "softmax".
std::string bare_name(std::string op) {
  if (op.starts_with("aten.")) op.erase(0, 5);
  op.resize(std::min(op.find('.'), op.size()));
  op.erase(0, std::min(op.find_first_not_of('_'), op.size()));
  if (op.size() > 1 && op.ends_with('_')) op.pop_back();
  return op;
}

struct Node {
  std::string name, op;
  std::vector<Json> arguments;
  Shape shape;
};

// "[24, 12, 77]", or as rows "[288 rows of 77]".
std::string shape_text(const Shape& shape, bool by_rows) {
  if (!by_rows || shape.size() < 3) return fmt::format("[{}]", fmt::join(shape, ", "));
  return fmt::format("[{} rows of {}]", product(shape, 0, shape.size() - 1), shape.back());
}

class Words {
 public:
  Words(const OperationWords& words, bool by_rows) : words_(words), by_rows_(by_rows) {}

  // Whether an operation is known, and works on elements or on whole rows.
  bool keeps_rows(const Json& json) {
    const Node node = seen(json);
    const auto known = words_.find(node.op);
    return known != words_.end() && (known->second.find("{along}") == std::string::npos || along(node).starts_with("of each of"));
  }

  Node seen(const Json& json) {
    Node node;
    node.name = json.value("name", "?");
    node.op = bare_name(json.value("op", "?"));
    if (json.contains("shape") && json.at("shape").is_array()) node.shape = json.at("shape").get<Shape>();
    for (const Json& argument : json.value("args", Json::array())) node.arguments.push_back(argument);
    shapes_[node.name] = node.shape;
    return node;
  }

  std::string line(const Json& json) {
    const Node node = seen(json);
    const std::string result = node.shape.empty() ? "" : " -> " + shape_text(node.shape, by_rows_);
    if (const auto source = transposed(node)) {
      swapped_[node.name] = *source;
      return fmt::format("{}[i, j] = {}[j, i]{}", node.name, *source, result);
    }
    if (node.op == "matmul" || node.op == "mm")
      if (const auto sum = product_of(node)) return fmt::format("{}[i, j] = {}{}", node.name, *sum, result);
    const auto known = words_.find(node.op);
    if (known == words_.end()) return graph_line(json);
    const std::string text = filled(known->second, node);
    return text.empty() ? graph_line(json) : fmt::format("{} = {}{}", node.name, text, result);
  }

 private:
  [[nodiscard]] std::string name_of_argument(const Node& node, std::size_t index) const {
    return index < node.arguments.size() ? node.arguments[index].value("ref", "") : "";
  }

  [[nodiscard]] const Shape* shape_of(const std::string& name) const {
    const auto found = shapes_.find(name);
    return found == shapes_.end() ? nullptr : &found->second;
  }

  // The matrix that this one is the transpose of.
  [[nodiscard]] std::optional<std::string> transposed(const Node& node) const {
    const bool turns = node.op == "t" || node.op == "numpy_T" || node.op == "mT" || node.op == "transpose" || node.op == "permute";
    const std::string source = name_of_argument(node, 0);
    const Shape* shape = shape_of(source);
    if (!turns || shape == nullptr || shape->size() != 2 || node.shape.size() != 2) return std::nullopt;
    if (node.op == "permute") {
      const Json& order = node.arguments.size() > 1 ? node.arguments[1].value("list", Json::array()) : Json::array();
      if (order.size() != 2 || order.at(0).value("const", 0) % 2 == 0) return std::nullopt;
    }
    return source;
  }

  [[nodiscard]] std::string element(const std::string& name, std::string_view row, std::string_view column) const {
    const auto source = swapped_.find(name);
    return source == swapped_.end() ? fmt::format("{}[{}, {}]", name, row, column)
                                    : fmt::format("{}[{}, {}]", source->second, column, row);
  }

  [[nodiscard]] std::optional<std::string> product_of(const Node& node) const {
    const std::string a = name_of_argument(node, 0), b = name_of_argument(node, 1);
    const Shape *left = shape_of(a), *right = shape_of(b);
    if (left == nullptr || right == nullptr || left->size() != 2 || right->size() != 2) return std::nullopt;
    return fmt::format("sum over k of {} * {} ({} values of k)", element(a, "i", "k"), element(b, "k", "j"), left->back());
  }

  // "of each of the 300 rows of 777 elements"; the dimension that a reduction names, or all of them.
  [[nodiscard]] std::string along(const Node& node) const {
    const Shape* shape = shape_of(name_of_argument(node, 0));
    if (shape == nullptr || shape->empty()) return "";
    std::vector<std::int64_t> dimensions;
    if (node.arguments.size() > 1) {
      const Json& given = node.arguments[1];
      if (given.contains("list"))
        for (const Json& each : given.at("list")) dimensions.push_back(each.value("const", std::int64_t{0}));
      else if (given.contains("const") && given.at("const").is_number_integer())
        dimensions.push_back(given.at("const").get<std::int64_t>());
    }
    if (dimensions.empty()) return fmt::format("over all {} elements", product(*shape, 0, shape->size()));
    const auto rank = static_cast<std::int64_t>(shape->size());
    for (std::int64_t& each : dimensions) each = each < 0 ? each + rank : each;
    if (dimensions.size() == 1 && dimensions[0] == rank - 1)
      return fmt::format("of each of the {} rows of {} elements", product(*shape, 0, shape->size() - 1), shape->back());
    std::vector<std::string> lengths;
    for (const std::int64_t each : dimensions)
      if (each >= 0 && each < rank)
        lengths.push_back(fmt::format("dimension {} ({} elements)", each, (*shape)[static_cast<std::size_t>(each)]));
    return fmt::format("along {}", fmt::join(lengths, " and "));
  }

  // Empty where an argument that the words need is not there.
  [[nodiscard]] std::string filled(const std::string& words, const Node& node) const {
    std::string text;
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (words[at] != '{') {
        text += words[at];
        continue;
      }
      const std::size_t end = words.find('}', at);
      const std::string name = words.substr(at + 1, end - at - 1);
      at = end;
      if (name == "along") {
        text += along(node);
        continue;
      }
      const std::size_t index = static_cast<std::size_t>(name[0] - '0');
      if (index >= node.arguments.size()) {
        if (index == 0) return "";
        text += "its default";
        continue;
      }
      text += graph_argument(node.arguments[index]);
    }
    return text;
  }

  const OperationWords& words_;
  const bool by_rows_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, std::string> swapped_;  // transposed matrices and what they are transposes of
};

}  // namespace

bool works_by_rows(const ProblemDescription& problem, const OperationWords& words) {
  if (!problem.graph.is_object()) return false;
  const auto read = read_fields("graph", [&] {
    Words said(words, true);
    bool all = true;
    for (const Json& node : problem.graph.at("nodes")) {
      if (node.value("kind", "call") == "call")
        all = said.keeps_rows(node) && all;
      else
        said.seen(node);
    }
    return all;
  });
  return read && *read;
}

std::string operations_in_words(const ProblemDescription& problem, const OperationWords& words, std::size_t most_lines) {
  if (!problem.graph.is_object()) return "";
  const bool by_rows = works_by_rows(problem, words);
  const auto read = read_fields("graph", [&] {
    Words said(words, by_rows);
    std::vector<std::string> lines;
    for (const Json& node : problem.graph.at("nodes")) {
      if (node.value("kind", "call") == "call")
        lines.push_back(said.line(node));
      else
        said.seen(node);
    }
    const std::size_t more = lines.size() > most_lines ? lines.size() - most_lines : 0;
    lines.resize(lines.size() - more);
    if (more > 0) lines.push_back(fmt::format("... and {} more", more));
    return fmt::format("{}", fmt::join(lines, "\n"));
  });
  return read ? *read : "";
}

std::string tensors_with_indices(const ProblemDescription& problem, bool by_rows) {
  static constexpr std::string_view kLetters = "ijklmn";
  std::vector<std::string> lines;
  for (const TensorSpec* spec : problem.arguments()) {
    std::string line = tensor_line(*spec);
    const std::size_t rank = spec->shape.size();
    const bool dense = spec->kind != TensorKind::scalar && rank > 0 && spec->is_contiguous();
    if (dense && by_rows && rank > 2) {
      line = fmt::format("{0}: {1} {2}, {3} rows of {4}, {0}[r, c] is {0}[r * {4} + c]", spec->c_name,
                         spec->kind == TensorKind::output ? "output" : "read-only", torch_name(spec->dtype),
                         product(spec->shape, 0, rank - 1), spec->shape.back());
      lines.push_back(std::move(line));
      continue;
    }
    if (dense) line += fmt::format(" ({} elements)", spec->numel());
    if (dense && rank > 1 && rank <= kLetters.size()) {
      std::vector<std::string> letters;
      std::string flat;
      for (std::size_t d = 0; d < rank; ++d) {
        letters.emplace_back(1, kLetters[d]);
        if (d == 0)
          flat = letters.back();
        else
          flat = fmt::format("{} * {} + {}", d > 1 ? "(" + flat + ")" : flat, spec->shape[d], letters.back());
      }
      line += fmt::format(", {0}[{1}] is {0}[{2}]", spec->c_name, fmt::join(letters, ", "), flat);
    }
    lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace kw
