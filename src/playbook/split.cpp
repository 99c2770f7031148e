#include "playbook/split.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"
#include "playbook/value.h"

namespace kw {
namespace {

// "aten.conv2d.default" -> "conv2d".
std::string plain_name(const std::string& op) {
  const auto dot = op.find('.');
  const std::string rest = dot == std::string::npos ? op : op.substr(dot + 1);
  return rest.substr(0, rest.find('.'));
}

bool is_contraction_op(const std::string& name) {
  static const std::set<std::string> all{"linear",
                                         "mm",
                                         "addmm",
                                         "bmm",
                                         "baddbmm",
                                         "matmul",
                                         "einsum",
                                         "mv",
                                         "lstm",
                                         "gru",
                                         "rnn_tanh",
                                         "rnn_relu",
                                         "convolution",
                                         "conv1d",
                                         "conv2d",
                                         "conv3d",
                                         "conv_transpose1d",
                                         "conv_transpose2d",
                                         "conv_transpose3d",
                                         "scaled_dot_product_attention"};
  return all.contains(name);
}

bool is_view_op(const std::string& name) {
  static const std::set<std::string> all{"view",    "reshape", "_unsafe_view", "transpose", "permute", "t",     "unsqueeze",
                                         "squeeze", "expand",  "select",       "slice",     "split",   "chunk", "split_with_sizes",
                                         "getitem", "flatten", "contiguous",   "clone",     "dropout", "alias", "unflatten",
                                         "unbind",  "narrow",  "movedim",      "detach",    "roll",    "flip"};
  return all.contains(name);
}

void for_each_ref(const Json& argument, const std::function<void(const std::string&)>& visit) {
  if (argument.is_object()) {
    if (const auto ref = argument.find("ref"); ref != argument.end()) return visit(ref->get<std::string>());
    if (const auto list = argument.find("list"); list != argument.end())
      for (const Json& item : *list) for_each_ref(item, visit);
  }
}

void for_each_operand(const Json& node, const std::function<void(const std::string&)>& visit) {
  for (const Json& argument : node.at("args")) for_each_ref(argument, visit);
  for (const Json& argument : node.at("kwargs")) for_each_ref(argument, visit);
}

void rename_refs(Json& argument, const std::map<std::string, std::string>& names) {
  if (!argument.is_object()) return;
  if (const auto ref = argument.find("ref"); ref != argument.end()) *ref = names.at(ref->get<std::string>());
  if (const auto list = argument.find("list"); list != argument.end())
    for (Json& item : *list) rename_refs(item, names);
}

std::int64_t constant_of(const Json& argument) { return argument.at("const").get<std::int64_t>(); }

TensorSpec dense_spec(std::string name, TensorKind kind, const Json& node) {
  TensorSpec spec;
  spec.c_name = spec.name = std::move(name);
  spec.kind = kind;
  const auto dtype = dtype_from_torch_name(node.at("dtype").get<std::string>());
  spec.dtype = dtype ? *dtype : DType::f32;
  spec.shape = node.at("shape").get<Shape>();
  spec.strides = contiguous_strides(spec.shape);
  spec.span = numel(spec.shape);
  return spec;
}

// Multiplications and additions of one operation; what is no contraction counts once for each element.
double flops_of(const Json& node, const std::map<std::string, Shape>& shapes) {
  if (node.at("kind") != "call" || node.at("shape").is_null()) return 0;
  const auto elements = static_cast<double>(numel(node.at("shape").get<Shape>()));
  const std::string name = plain_name(node.at("op").get<std::string>());
  if (!is_contraction_op(name)) return elements;
  std::vector<Shape> operands;
  for_each_operand(
      node, [&](const std::string& operand) { operands.push_back(shapes.contains(operand) ? shapes.at(operand) : Shape{}); });
  if (operands.size() < 2) return elements;
  if (name.starts_with("conv")) {
    const bool transposed = name.starts_with("conv_transpose");
    const auto weights = static_cast<double>(numel(operands[1]));
    const Shape& image = transposed ? operands[0] : node.at("shape").get<Shape>();
    return 2 * static_cast<double>(numel(image)) * weights / static_cast<double>(std::max<std::int64_t>(1, operands[1][0]));
  }
  if (name == "scaled_dot_product_attention")
    return 4 * elements * static_cast<double>(operands[1].size() > 1 ? operands[1][operands[1].size() - 2] : 1);
  const Shape& left = operands[name == "addmm" || name == "baddbmm" ? 1 : 0];
  return 2 * elements * static_cast<double>(left.empty() ? 1 : left.back());
}

class Splitter {
 public:
  explicit Splitter(const ProblemDescription& problem) : problem_(problem) {}

  Split make() {
    if (!read_nodes()) return {};
    find_last_uses();
    const std::vector<std::size_t> cuts = find_cuts();
    if (cuts.size() + 1 < kFewestPlaces) return {};
    split_.eager_bytes = most_alive();
    for (std::size_t i = 0; i <= cuts.size(); ++i) add_place(i == 0 ? 0 : cuts[i - 1], i == cuts.size() ? steps_.size() : cuts[i]);
    return std::move(split_);
  }

  Split make_around(const std::set<std::string>& operations) {
    if (!read_nodes()) return {};
    find_last_uses();
    const std::vector<std::int64_t> alive = alive_before_steps();
    std::size_t begin = 0;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      if (!operations.contains(node(steps_[step]).at("op").get<std::string>())) continue;
      // A result that is several tensors stays with who takes it apart.
      std::size_t before = step, after = step + 1;
      while (before > begin && alive[before] < 0) --before;
      while (after < steps_.size() && alive[after] < 0) ++after;
      add_piece(begin, before);
      begin = std::max(begin, after);
    }
    add_piece(begin, steps_.size());
    return std::move(split_);
  }

 private:
  void add_piece(std::size_t begin, std::size_t end) {
    for (std::size_t step = begin; step < end; ++step)
      if (!is_view_op(plain_name(node(steps_[step]).at("op").get<std::string>()))) return add_place(begin, end);
  }

  [[nodiscard]] const Json& node(const std::string& name) const { return *nodes_.at(name); }
  [[nodiscard]] bool is_weight(const std::string& name) const { return weights_.contains(name); }

  // What forward() computes from its inputs, in order; false: something that is better left whole.
  bool read_nodes() {
    if (problem_.graph.is_null()) return false;
    for (const TensorSpec& spec : problem_.inputs) {
      if (spec.kind == TensorKind::scalar) return false;
      specs_[spec.name] = &spec;
    }
    for (const TensorSpec& spec : problem_.parameters) specs_[spec.name] = &spec;
    for (const Json& output : problem_.graph.at("outputs"))
      if (!outputs_.emplace(output.get<std::string>(), outputs_.size()).second) return false;
    for (const Json& node : problem_.graph.at("nodes")) {
      const auto name = node.at("name").get<std::string>();
      const auto kind = node.at("kind").get<std::string>();
      nodes_[name] = &node;
      if (kind == "constant") {
        weights_.insert(name);
      } else if (kind == "placeholder") {
        const auto tensor = node.find("tensor");
        const auto spec = tensor != node.end() && tensor->is_string() ? specs_.find(tensor->get<std::string>()) : specs_.end();
        if (spec == specs_.end()) return false;
        if (spec->second->kind != TensorKind::input) weights_.insert(name);
      } else if (!read_call(name, node)) {
        return false;
      }
    }
    return std::ranges::all_of(outputs_, [&](const auto& output) { return step_of_.contains(output.first); });
  }

  bool read_call(const std::string& name, const Json& node) {
    const std::string op = plain_name(node.at("op").get<std::string>());
    bool weight = !outputs_.contains(name);
    for_each_operand(node, [&](const std::string& operand) { weight = weight && is_weight(operand); });
    if (weight) {
      weights_.insert(name);
      return true;
    }
    if (op == "select" && !outputs_.contains(name) && is_step_of_input(node)) {
      const std::string base = node.at("args")[0].at("ref").get<std::string>();
      const Shape shape = nodes_.at(base)->at("shape").get<Shape>();
      const std::int64_t at = constant_of(node.at("args")[2]);
      steps_of_inputs_[name] = {base, (at < 0 ? at + shape[0] : at) * numel(node.at("shape").get<Shape>())};
      return true;
    }
    step_of_[name] = steps_.size();
    steps_.push_back(name);
    return true;
  }

  [[nodiscard]] bool is_step_of_input(const Json& node) const {
    const Json& args = node.at("args");
    if (!args[0].contains("ref") || !args[1].contains("const") || !args[2].contains("const")) return false;
    const Json& base = *nodes_.at(args[0].at("ref").get<std::string>());
    if (base.at("kind") != "placeholder" || !specs_.at(base.at("tensor").get<std::string>())->is_contiguous()) return false;
    return constant_of(args[1]) == 0;
  }

  void find_last_uses() {
    for (std::size_t step = 0; step < steps_.size(); ++step)
      for_each_operand(node(steps_[step]), [&](const std::string& operand) {
        const auto of_input = steps_of_inputs_.find(operand);
        last_use_[of_input == steps_of_inputs_.end() ? operand : of_input->second.first] = step;
      });
    for (const auto& [name, index] : outputs_) last_use_[name] = steps_.size();
  }

  // Whether a step is a contraction that a place may begin with. Two in a row that both multiply what was computed belong together:
  // scores and what they weigh are one attention.
  [[nodiscard]] std::vector<std::size_t> contractions() const {
    std::vector<std::size_t> found;
    bool after_computed = false;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      const Json& at = node(steps_[step]);
      if (!is_contraction_op(plain_name(at.at("op").get<std::string>()))) continue;
      bool weighted = false;
      for_each_operand(at, [&](const std::string& operand) { weighted = weighted || is_weight(operand); });
      if (weighted || !after_computed) found.push_back(step);
      after_computed = !weighted;
    }
    return found;
  }

  // Bytes alive before a step; -1 where something alive is no single tensor.
  [[nodiscard]] std::vector<std::int64_t> alive_before_steps() const {
    std::vector<std::int64_t> change(steps_.size() + 2, 0);
    std::vector<bool> divisible(steps_.size() + 2, true);
    for (const auto& [name, last] : last_use_) {
      if (is_weight(name)) continue;
      const auto step = step_of_.find(name);
      const std::size_t from = step == step_of_.end() ? 0 : step->second + 1;
      const Json& shape = node(name).at("shape");
      if (shape.is_null()) {
        for (std::size_t s = from; s <= last && s < divisible.size(); ++s) divisible[s] = false;
        continue;
      }
      const std::int64_t bytes = numel(shape.get<Shape>()) * 4;
      change[from] += bytes;
      change[last + 1] -= bytes;
    }
    std::vector<std::int64_t> alive(steps_.size() + 1, 0);
    std::int64_t now = 0;
    for (std::size_t s = 0; s <= steps_.size(); ++s) {
      now += change[s];
      alive[s] = divisible[s] ? now : -1;
    }
    return alive;
  }

  [[nodiscard]] std::int64_t most_alive() const {
    std::vector<std::int64_t> alive(steps_.size() + 1, 0);
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      const std::string& name = steps_[step];
      const auto last = last_use_.find(name);
      if (is_view_op(plain_name(node(name).at("op").get<std::string>())) || node(name).at("shape").is_null()) continue;
      for (std::size_t s = step; s <= (last == last_use_.end() ? step : last->second) && s < alive.size(); ++s)
        alive[s] += static_cast<std::int64_t>(dense_spec("", TensorKind::output, node(name)).span_bytes());
    }
    return std::ranges::max(alive);
  }

  // One between each two contractions, where the least is alive; of equals the last one, so that what follows a contraction stays
  // with it, but for views, which cost nothing where they are read.
  [[nodiscard]] std::vector<std::size_t> find_cuts() const {
    const std::vector<std::size_t> starts = contractions();
    const std::vector<std::int64_t> alive = alive_before_steps();
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < starts.size(); ++i) {
      std::size_t best = 0;
      for (std::size_t cut = starts[i - 1] + 1; cut <= starts[i]; ++cut)
        if (alive[cut] >= 0 && (best == 0 || alive[cut] <= alive[best])) best = cut;
      if (best == 0) continue;
      while (best > starts[i - 1] + 1 && is_view_op(plain_name(node(steps_[best - 1]).at("op").get<std::string>())) &&
             alive[best - 1] >= 0 && alive[best - 1] <= alive[best])
        --best;
      cuts.push_back(best);
    }
    return cuts;
  }

  void add_place(std::size_t begin, std::size_t end) {
    place_ = {};
    part_ = {};
    names_.clear();
    body_.clear();
    calls_.clear();
    for (std::size_t step = begin; step < end; ++step) take(steps_[step]);
    Json outputs = Json::array();
    for (std::size_t step = begin; step < end; ++step) {
      const std::string& name = steps_[step];
      if (!last_use_.contains(name) || last_use_.at(name) < end) continue;
      part_.problem.outputs.push_back(stored_spec(fmt::format("out{}", outputs.size()), TensorKind::output, name));
      const auto output = outputs_.find(name);
      place_.outputs.push_back({name, output == outputs_.end() ? "" : problem_.outputs[output->second].name});
      outputs.push_back(names_.at(name));
    }
    Json nodes = Json::array();
    for (const auto* specs : {&part_.problem.inputs, &part_.problem.parameters})
      for (const TensorSpec& spec : *specs)
        nodes.push_back({{"name", spec.name},
                         {"op", "placeholder"},
                         {"args", Json::array()},
                         {"kwargs", Json::object()},
                         {"shape", spec.shape},
                         {"dtype", torch_name(spec.dtype)},
                         {"kind", "placeholder"},
                         {"tensor", spec.name}});
    for (Json& each : body_) nodes.push_back(std::move(each));
    part_.problem.graph = {{"nodes", std::move(nodes)}, {"outputs", std::move(outputs)}};
    settle_part();
    split_.places.push_back(std::move(place_));
  }

  // A computed value as it lies in memory: contiguous between places, and as the problem has it where it is an output.
  [[nodiscard]] TensorSpec stored_spec(std::string own_name, TensorKind kind, const std::string& name) const {
    TensorSpec spec = dense_spec(std::move(own_name), kind, node(name));
    const auto output = outputs_.find(name);
    if (output != outputs_.end() && problem_.outputs[output->second].strides.size() == spec.shape.size())
      spec.strides = problem_.outputs[output->second].strides;
    return spec;
  }

  // The part's own node for one of the problem's, with all that it needs from the weights.
  void take(const std::string& name) {
    if (names_.contains(name)) return;
    const Json& original = node(name);
    const auto kind = original.at("kind").get<std::string>();
    Json own = original;
    if (kind == "call") {
      for_each_operand(original, [&](const std::string& operand) { take_operand(operand); });
      for (Json& argument : own["args"]) rename_refs(argument, names_);
      for (auto& argument : own["kwargs"]) rename_refs(argument, names_);
      if (step_of_.contains(name)) calls_.push_back(plain_name(original.at("op").get<std::string>()));
    }
    names_[name] = fmt::format("n{}", body_.size());
    own["name"] = names_[name];
    body_.push_back(std::move(own));
  }

  void take_operand(const std::string& name) {
    if (names_.contains(name)) return;
    const Json& original = node(name);
    if (original.at("kind") == "placeholder") {
      const TensorSpec& spec = *specs_.at(original.at("tensor").get<std::string>());
      const bool weight = is_weight(name);
      auto& specs = weight ? part_.problem.parameters : part_.problem.inputs;
      TensorSpec own = spec;
      own.c_name = own.name = fmt::format("{}{}", weight ? "p" : "x", specs.size());
      names_[name] = own.name;
      specs.push_back(std::move(own));
      (weight ? place_.parameters : place_.inputs).push_back({name, spec.name});
    } else if (is_weight(name)) {
      take(name);
    } else {
      // From before this place: a value of an earlier one, or one step of an input.
      const auto of_input = steps_of_inputs_.find(name);
      names_[name] = fmt::format("x{}", part_.problem.inputs.size());
      part_.problem.inputs.push_back(stored_spec(names_[name], TensorKind::input, name));
      if (of_input == steps_of_inputs_.end())
        place_.inputs.push_back({name, ""});
      else
        place_.inputs.push_back(
            {of_input->second.first, node(of_input->second.first).at("tensor").get<std::string>(), of_input->second.second});
    }
  }

  void settle_part() {
    Json essence = part_.problem.graph;
    for (const auto* specs : {&part_.problem.inputs, &part_.problem.parameters})
      for (const TensorSpec& spec : *specs) essence["tensors"].push_back(spec);
    for (const TensorSpec& spec : part_.problem.outputs)
      if (!spec.is_contiguous()) essence["layouts"].push_back(spec);
    part_.hash = sha256(essence.dump()).substr(0, 16);
    const auto known = part_of_.find(part_.hash);
    if (known != part_of_.end()) {
      place_.part = known->second;
    } else {
      place_.part = part_of_[part_.hash] = split_.parts.size();
      part_.operations = fmt::format("{}", fmt::join(words(), ", "));
      part_.problem.name = part_.hash;
      std::map<std::string, Shape> shapes;
      double flops = 0;
      for (const Json& each : part_.problem.graph.at("nodes")) {
        if (!each.at("shape").is_null()) shapes[each.at("name").get<std::string>()] = each.at("shape").get<Shape>();
        flops += flops_of(each, shapes);
      }
      part_.problem.flops = flops;
      for (const TensorSpec* spec : part_.problem.arguments()) part_.problem.bytes += static_cast<double>(spec->span_bytes());
      part_.problem.essential_bytes = part_.problem.bytes;
      split_.parts.push_back(std::move(part_));
    }
    ++split_.parts[place_.part].places;
  }

  // The operations, views left out where there is anything else.
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> found;
    for (const std::string& call : calls_)
      if (!is_view_op(call)) found.push_back(call);
    constexpr std::size_t kMostNamed = 8;
    if (found.size() > kMostNamed) {
      found.resize(kMostNamed);
      found.emplace_back("...");
    }
    return found.empty() ? calls_ : found;
  }

  const ProblemDescription& problem_;
  std::map<std::string, const TensorSpec*> specs_;
  std::map<std::string, const Json*> nodes_;
  std::map<std::string, std::size_t> outputs_;
  std::set<std::string> weights_;                                                // depend on no input
  std::map<std::string, std::pair<std::string, std::int64_t>> steps_of_inputs_;  // input, offset
  std::vector<std::string> steps_;
  std::map<std::string, std::size_t> step_of_;
  std::map<std::string, std::size_t> last_use_;
  std::map<std::string, std::size_t> part_of_;  // by hash
  Split split_;
  // The place at hand.
  Place place_;
  Part part_;
  std::map<std::string, std::string> names_;  // of the problem's nodes in the part
  std::vector<Json> body_;
  std::vector<std::string> calls_;
};

}  // namespace

Split split_problem(const ProblemDescription& problem) { return Splitter(problem).make(); }
Split split_around(const ProblemDescription& problem, const std::set<std::string>& operations) {
  return Splitter(problem).make_around(operations);
}

BetweenPlaces place_values(const Split& split) {
  struct Lifetime {
    PlacedValue value;
    std::size_t from = 0, to = 0;
  };
  constexpr std::int64_t kAlignment = 64;
  std::vector<Lifetime> lifetimes;
  std::map<std::string, std::size_t> known;
  for (std::size_t p = 0; p < split.places.size(); ++p) {
    const Place& place = split.places[p];
    const ProblemDescription& part = split.parts[place.part].problem;
    for (const Operand& input : place.inputs)
      if (const auto found = known.find(input.node); found != known.end()) lifetimes[found->second].to = p;
    for (std::size_t o = 0; o < place.outputs.size(); ++o) {
      // An output of the problem that a later place reads, too, has the memory that the caller gave.
      if (!place.outputs[o].tensor.empty()) continue;
      const TensorSpec& spec = part.outputs[o];
      const auto bytes = static_cast<std::int64_t>(std::max<std::size_t>(spec.span_bytes(), 1));
      known[place.outputs[o].node] = lifetimes.size();
      lifetimes.push_back({{place.outputs[o].node, spec.dtype, (bytes + kAlignment - 1) / kAlignment * kAlignment, 0}, p, p});
    }
  }
  std::vector<Lifetime*> by_size;
  for (Lifetime& each : lifetimes) by_size.push_back(&each);
  std::ranges::stable_sort(by_size, [](const Lifetime* a, const Lifetime* b) { return a->value.bytes > b->value.bytes; });
  BetweenPlaces between;
  std::vector<const Lifetime*> placed;
  for (Lifetime* each : by_size) {
    std::vector<const Lifetime*> beside;
    for (const Lifetime* other : placed)
      if (other->from <= each->to && each->from <= other->to) beside.push_back(other);
    std::ranges::sort(beside, {}, [](const Lifetime* other) { return other->value.offset; });
    for (const Lifetime* other : beside)
      if (each->value.offset + each->value.bytes > other->value.offset)
        each->value.offset = std::max(each->value.offset, other->value.offset + other->value.bytes);
    placed.push_back(each);
    between.bytes = std::max(between.bytes, each->value.offset + each->value.bytes);
  }
  for (Lifetime& each : lifetimes) between.values.push_back(std::move(each.value));
  return between;
}

}  // namespace kw
