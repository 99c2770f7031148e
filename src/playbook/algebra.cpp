#include "playbook/algebra.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "playbook/linear_map.h"
#include "playbook/reach.h"
#include "playbook/stage_window.h"

namespace kw {
namespace {

// A value that is scale * map + shift, the latter one number for each feature of the map: vectors of parameters, -1 where there is
// nothing to do. The value has the map's elements in the map's order.
struct LinearForm {
  LinearMap map;
  ValueId scale = -1;
  ValueId shift = -1;
  int channel = -1;  // the value's dimension of features
  int steps = 0;     // pointwise operations on the way
};

std::set<ValueId> needed_for(const Graph& graph, const std::vector<ValueId>& outputs) {
  std::set<ValueId> needed;
  std::vector<ValueId> open = outputs;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!needed.insert(id).second) continue;
    for (const ValueId operand : graph.at(id).operands) open.push_back(operand);
  }
  return needed;
}

class Rewriting {
 public:
  // `spared`: values of the source whose map is read in several ways, and stays as it is.
  Rewriting(const Graph& source, const std::vector<ValueId>& outputs, const std::set<std::string>& strategies,
            const std::set<ValueId>& spared)
      : source_(source), strategies_(strategies), spared_(spared) {
    const std::set<ValueId> needed = needed_for(source, outputs);
    for (const ValueId id : needed)
      for (const ValueId operand : source.at(id).operands) readers_[operand].insert(id);
    for (const ValueId id : needed) {
      graph().set_origin(source.at(id).origin);
      made_[id] = made(id);
      note_parameters();
    }
    for (const ValueId output : outputs) result_.outputs.push_back(realised(made_.at(output)));
    const std::set<ValueId> kept = needed_for(result_.graph, result_.outputs);
    std::set<ValueId> given;
    for (const ValueId output : result_.outputs) given.insert(behind_reshapes(result_.graph, output));
    std::erase_if(result_.prepared, [&](const auto& made) { return !kept.contains(made.first) || given.contains(made.first); });
  }

  Algebra take() { return std::move(result_); }

  // Values of the source whose maps more than one form was asked of.
  [[nodiscard]] std::set<ValueId> read_in_several_ways() const {
    std::set<ValueId> several;
    for (const auto& [of, forms] : asked_)
      if (forms.size() > 1) several.insert(of);
    return several;
  }

 private:
  Graph& graph() { return result_.graph; }
  [[nodiscard]] bool wants(const char* strategy) const { return strategies_.contains(strategy); }

  void note_parameters() {
    const Graph& own = result_.graph;
    for (; noted_ < own.size(); ++noted_) {
      const Value& value = own.at(noted_);
      bool all = value.kind == ValueKind::argument ? value.parameter : value.kind != ValueKind::scalar;
      for (const ValueId operand : value.operands) all = all && parameters_.contains(operand);
      if (all) parameters_.insert(noted_);
    }
  }
  bool is_parameter(ValueId id) {
    note_parameters();
    return parameters_.contains(id);
  }

  // --- one value after the other ---

  ValueId made(ValueId id) {
    const Value& value = source_.at(id);
    if (value.dtype == DType::f32) {
      if (value.kind == ValueKind::pointwise)
        if (const auto linear = made_pointwise(value)) return *linear;
      if (value.kind == ValueKind::view || value.kind == ValueKind::reshape)
        if (const auto moved = made_moved(value)) return *moved;
      if (value.kind == ValueKind::reduce && value.fn == "sum")
        if (const auto sum = made_sum(value, id)) return *sum;
      if (value.kind == ValueKind::window && value.fn == "sum")
        if (const auto pooled = made_window(value, id)) return *pooled;
    }
    Value copy = value;
    for (ValueId& operand : copy.operands) operand = realised(made_.at(operand));
    const ValueId result = graph().add(std::move(copy));
    if (is_contraction(value)) begin_form(result, id);
    return result;
  }

  void begin_form(ValueId result, ValueId id) {
    const auto& operands = graph().at(result).operands;
    const auto map = linear_map(graph(), result, is_parameter(operands[0]), is_parameter(operands[1]));
    if (!map) return;
    forms_[result] = {.map = *map, .channel = map->channel};
    origin_of_[result] = id;
  }

  ValueId plain_copy(const Value& value) {
    Value copy = value;
    for (ValueId& operand : copy.operands) operand = made_.at(operand);
    return graph().add(std::move(copy));
  }

  [[nodiscard]] const LinearForm* form_of(ValueId made) const {
    const auto found = forms_.find(made);
    return found == forms_.end() ? nullptr : &found->second;
  }

  // --- forms ---

  ValueId times(ValueId a, ValueId b) { return a < 0 ? b : b < 0 ? a : graph().pointwise("mul", {a, b}); }
  ValueId plus(ValueId a, ValueId b) { return a < 0 ? b : b < 0 ? a : graph().pointwise("add", {a, b}); }
  ValueId negative(ValueId a) { return a < 0 ? a : graph().pointwise("neg", {a}); }
  ValueId number(double value, std::int64_t count) { return graph().expand(graph().constant(value), {count}); }

  // The dimensions along which a value changes, as bits; all of them where it is hard to say.
  std::uint64_t changes_along(ValueId id) {
    const Value& value = graph().at(id);
    std::uint64_t all = 0;
    for (std::size_t d = 0; d < value.shape.size(); ++d)
      if (value.shape[d] != 1) all |= std::uint64_t{1} << d;
    if (value.kind == ValueKind::constant) return 0;
    if (value.kind == ValueKind::view) {
      const std::uint64_t inner = changes_along(value.operands[0]);
      std::uint64_t own = 0;
      for (std::size_t d = 0; d < value.map.size(); ++d)
        if ((inner >> d & 1) != 0 && value.map[d].out_dim >= 0) own |= std::uint64_t{1} << value.map[d].out_dim;
      return own;
    }
    if (value.kind == ValueKind::pointwise) {
      std::uint64_t own = 0;
      for (const ValueId operand : value.operands) own |= changes_along(operand);
      return own;
    }
    return all;
  }

  // What a parameter of the value's shape has for each feature; nothing where it changes along other dimensions too.
  std::optional<ValueId> by_feature(ValueId id, const LinearForm& form) {
    if (!is_parameter(id) || graph().dtype(id) != DType::f32) return std::nullopt;
    const std::uint64_t along_channel = std::uint64_t{1} << form.channel;
    if ((changes_along(id) & ~along_channel) != 0) return std::nullopt;
    std::vector<DimMap> map(graph().shape(id).size());
    for (std::size_t d = 0; d < map.size(); ++d) map[d] = static_cast<int>(d) == form.channel ? DimMap{0, 1, 0} : DimMap{-1, 1, 0};
    return graph().view(id, {form.map.features}, std::move(map));
  }

  std::optional<ValueId> made_pointwise(const Value& value) {
    if (value.fn == "neg") {
      const LinearForm* form = form_of(made_.at(value.operands[0]));
      if (form == nullptr) return std::nullopt;
      LinearForm next = *form;
      next.scale = next.scale < 0 ? number(-1, next.map.features) : negative(next.scale);
      next.shift = negative(next.shift);
      return with_form(value, next);
    }
    const bool sum = value.fn == "add" || value.fn == "sub";
    if ((!sum && value.fn != "mul" && value.fn != "div") || value.operands.size() != 2) return std::nullopt;
    const ValueId a = made_.at(value.operands[0]), b = made_.at(value.operands[1]);
    const LinearForm* left = form_of(a);
    const LinearForm* right = form_of(b);
    if (left != nullptr && right != nullptr) return sum ? made_of_both(value, *left, *right) : std::nullopt;
    if (left == nullptr && right == nullptr) return std::nullopt;
    LinearForm next = left != nullptr ? *left : *right;
    const auto other = by_feature(left != nullptr ? b : a, next);
    if (!other || (value.fn == "div" && left == nullptr)) return std::nullopt;
    if (value.fn == "mul" || value.fn == "div") {
      const ValueId factor = value.fn == "mul" ? *other : graph().pointwise("div", {number(1, next.map.features), *other});
      next.scale = times(next.scale, factor);
      if (next.shift >= 0) next.shift = times(next.shift, factor);
    } else if (value.fn == "add") {
      next.shift = plus(next.shift, *other);
    } else if (left != nullptr) {
      next.shift = plus(next.shift, negative(*other));
    } else {
      next.scale = next.scale < 0 ? number(-1, next.map.features) : negative(next.scale);
      next.shift = plus(*other, negative(next.shift));
    }
    return with_form(value, next);
  }

  std::optional<ValueId> made_of_both(const Value& value, const LinearForm& left, const LinearForm& right) {
    if (left.map.value != right.map.value || left.channel != right.channel) return std::nullopt;
    const bool less = value.fn == "sub";
    const auto one = [&](ValueId scale) { return scale < 0 ? number(1, left.map.features) : scale; };
    LinearForm next = left;
    next.scale = plus(one(left.scale), less ? negative(one(right.scale)) : one(right.scale));
    next.shift = plus(left.shift, less ? negative(right.shift) : right.shift);
    next.steps += right.steps;
    return with_form(value, next);
  }

  ValueId with_form(const Value& value, LinearForm form) {
    const ValueId result = plain_copy(value);
    ++form.steps;
    forms_[result] = form;
    return result;
  }

  // Reshapes keep the form where the features stay a dimension of their own.
  std::optional<ValueId> made_moved(const Value& value) {
    const LinearForm* form = form_of(made_.at(value.operands[0]));
    if (form == nullptr) return std::nullopt;
    const Shape from = graph().shape(made_.at(value.operands[0]));
    if (numel(from) != numel(value.shape) || numel(from) == 0) return std::nullopt;
    LinearForm next = *form;
    const ValueId result = plain_copy(value);
    if (behind_reshapes(graph(), result) != behind_reshapes(graph(), made_.at(value.operands[0]))) return std::nullopt;
    const auto ahead = [](const Shape& shape, int dim) { return numel({shape.begin(), shape.begin() + dim}); };
    next.channel = -1;
    for (int d = 0; d < static_cast<int>(value.shape.size()) && next.channel < 0; ++d)
      if (value.shape[static_cast<std::size_t>(d)] == form->map.features && ahead(value.shape, d) == ahead(from, form->channel))
        next.channel = d;
    if (next.channel < 0) return std::nullopt;
    forms_[result] = next;
    return result;
  }

  // The value as others read it: with its scales and shifts in the weights, where that is wanted and saves something.
  ValueId realised(ValueId made) {
    const LinearForm* found = form_of(made);
    if (found == nullptr) return made;
    const LinearForm form = *found;
    const ValueId of = origin_of_.at(form.map.value);
    asked_[of].insert({form.scale, form.shift});
    if (!wants("fold_batch_norm") || spared_.contains(of) || (form.scale < 0 && form.steps < 2)) return made;
    const Shape shape = graph().shape(made);
    ValueId map = form.map.value;
    if (form.scale >= 0) {
      ValueId weights = weights_of(graph(), form.map);
      weights = times(weights, along(graph(), form.scale, form.map.weight_channel, graph().shape(weights)));
      prepare(weights, "folded_weights");
      map = map_with(graph(), form.map, weights);
    }
    ValueId result = graph().reshape(map, shape);
    if (form.shift >= 0) {
      prepare(form.shift, "folded_bias");
      result = plus(result, along(graph(), form.shift, form.channel, shape));
    }
    result_.done.insert("fold_batch_norm");
    return result;
  }

  void prepare(ValueId id, const std::string& name) {
    id = behind_views(graph(), id);
    if (is_computed(graph().at(id)) && is_parameter(id)) result_.prepared[id] = name;
  }

  // --- sums ---

  // A map in place of another one, with the scales of that one behind it and its shifts as often as positions were summed.
  ValueId instead(const LinearForm& form, ValueId map, ValueId id, const Shape& shape, int channel, double positions) {
    const auto& operands = graph().at(map).operands;
    const auto own = linear_map(graph(), map, is_parameter(operands[0]), is_parameter(operands[1]));
    LinearForm next = form;
    ValueId result = graph().reshape(map, shape);
    next.channel = channel;
    if (next.shift >= 0) next.shift = times(next.shift, number(positions, next.map.features));
    if (next.scale >= 0) result = graph().pointwise("mul", {result, along(graph(), next.scale, channel, shape)});
    if (next.shift >= 0) result = graph().pointwise("add", {result, along(graph(), next.shift, channel, shape)});
    if (own && own->features == form.map.features) {
      next.map = *own;
      next.steps = (next.scale >= 0 ? 1 : 0) + (next.shift >= 0 ? 1 : 0);
      forms_[result] = next;
      origin_of_[map] = id;
    }
    return result;
  }

  std::optional<ValueId> made_sum(const Value& value, ValueId id) {
    if (!wants("sum_weights_first")) return std::nullopt;
    const ValueId operand = made_.at(value.operands[0]);
    const LinearForm* found = form_of(operand);
    // What others read too is computed anyway, and its sum on the way.
    if (found == nullptr || readers_.at(value.operands[0]).size() > 1) return std::nullopt;
    const LinearForm form = *found;
    const Shape shape = graph().shape(operand);
    if (value.dims == std::vector{form.channel} && form.map.features > 1) return made_feature_sum(value, form);
    const Value& map = graph().at(form.map.value);
    if (map.kind != ValueKind::convolution || map.shape != shape) return std::nullopt;
    std::vector<bool> summed(map.window.size());
    for (const int d : value.dims) {
      if (d < 2) return std::nullopt;
      summed[static_cast<std::size_t>(d) - 2] = true;
    }
    const auto shorter = summed_convolution(graph(), form.map, summed);
    if (!shorter || 2 * shorter->operations > operations_of(graph(), form.map.value)) return std::nullopt;
    prepare(shorter->weights, "summed_weights");
    result_.done.insert("sum_weights_first");
    return instead(form, shorter->value, id, value.shape, 1, shorter->positions);
  }

  // The weights of a map with its scales in them.
  ValueId scaled_weights(const LinearForm& form) {
    const ValueId weights = weights_of(graph(), form.map);
    if (form.scale < 0) return weights;
    return times(weights, along(graph(), form.scale, form.map.weight_channel, graph().shape(weights)));
  }

  std::optional<ValueId> made_feature_sum(const Value& value, const LinearForm& form) {
    const Value& map = graph().at(form.map.value);
    if (map.groups != 1) return std::nullopt;
    const ValueId weights = summed_weights(graph(), form.map, scaled_weights(form));
    prepare(weights, "summed_weights");
    ValueId result = -1;
    if (map.kind == ValueKind::convolution) {
      Shape one = map.shape;
      one[1] = 1;
      result = graph().convolution(map.operands[0], weights, one, map.window, 1);
    } else {
      result = map_with(graph(), form.map, weights);
    }
    result = graph().reshape(result, value.shape);
    if (form.shift >= 0) {
      const ValueId shift = graph().reduce("sum", form.shift, {0}, true);
      prepare(shift, "summed_bias");
      result = plus(result, along(graph(), shift, 0, value.shape));
    }
    result_.done.insert("sum_weights_first");
    return result;
  }

  std::optional<ValueId> made_window(const Value& value, ValueId id) {
    const ValueId operand = made_.at(value.operands[0]);
    const LinearForm* found = form_of(operand);
    if (found == nullptr || readers_.at(value.operands[0]).size() > 1) return std::nullopt;
    const LinearForm form = *found;
    const Value& map = graph().at(form.map.value);
    const auto channel = static_cast<std::size_t>(form.channel);
    const bool along_features =
        std::ranges::all_of(value.window, [&](const WindowDim& dim) { return !is_pooled(dim) || &dim == &value.window[channel]; });
    if (map.kind == ValueKind::product) {
      if (!along_features || !wants("sum_weights_first") || value.shape[channel] >= form.map.features) return std::nullopt;
      return made_feature_windows(value, form, value.window[channel]);
    }
    if (!wants("pool_into_convolution") || map.shape != graph().shape(operand) || is_pooled(value.window[0]) ||
        is_pooled(value.window[1]))
      return std::nullopt;
    const std::vector<WindowDim> pool(value.window.begin() + 2, value.window.end());
    const auto shorter = pooled_convolution(graph(), form.map, pool, {value.shape.begin() + 2, value.shape.end()});
    if (!shorter || shorter->operations > operations_of(graph(), form.map.value)) return std::nullopt;
    prepare(shorter->weights, "pooled_weights");
    result_.done.insert("pool_into_convolution");
    return instead(form, shorter->value, id, value.shape, 1, shorter->positions);
  }

  std::optional<ValueId> made_feature_windows(const Value& value, const LinearForm& form, const WindowDim& window) {
    const std::int64_t outputs = value.shape[static_cast<std::size_t>(form.channel)];
    const ValueId weights = windowed_weights(graph(), form.map, scaled_weights(form), window, outputs);
    prepare(weights, "summed_weights");
    ValueId result = graph().reshape(map_with(graph(), form.map, weights), value.shape);
    if (form.shift >= 0) {
      Value windows{.kind = ValueKind::window, .dtype = DType::f32, .shape = {outputs}, .operands = {form.shift}};
      windows.fn = "sum";
      windows.window = {window};
      const ValueId shift = graph().add(std::move(windows));
      prepare(shift, "summed_bias");
      result = plus(result, along(graph(), shift, form.channel, value.shape));
    }
    result_.done.insert("sum_weights_first");
    return result;
  }

  const Graph& source_;
  const std::set<std::string>& strategies_;
  const std::set<ValueId>& spared_;
  Algebra result_;
  std::map<ValueId, ValueId> made_;  // of values of the source
  std::map<ValueId, std::set<ValueId>> readers_;
  std::map<ValueId, LinearForm> forms_;
  std::map<ValueId, ValueId> origin_of_;  // a map's value of the source
  std::map<ValueId, std::set<std::pair<ValueId, ValueId>>> asked_;
  std::set<ValueId> parameters_;
  ValueId noted_ = 0;
};

}  // namespace

Algebra with_algebra(const Graph& graph, const std::vector<ValueId>& outputs, const std::set<std::string>& strategies) {
  if (std::ranges::none_of(kAlgebra, [&](const char* id) { return strategies.contains(id); })) return {graph, outputs, {}, {}};
  std::set<ValueId> spared;
  Rewriting first(graph, outputs, strategies, spared);
  spared = first.read_in_several_ways();
  if (spared.empty()) return first.take();
  return Rewriting(graph, outputs, strategies, spared).take();
}

}  // namespace kw
