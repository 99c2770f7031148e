#include "playbook/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/emit.h"
#include "playbook/halves.h"
#include "playbook/narrow_weights.h"
#include "playbook/reach.h"
#include "playbook/repeated_work.h"

namespace kw {
namespace {

constexpr std::int64_t kSmallWork = 32768;  // elements that are not worth another thread

class Planner {
 public:
  Planner(const Graph& graph, const PlannedOutputs& outputs, const std::set<std::string>& strategies, int threads,
          const std::map<ValueId, std::string>& prepared)
      : graph_(graph), outputs_(outputs), strategies_(strategies), threads_(threads), users_(users_of(graph)) {
    for (const auto& [id, name] : prepared) {
      plan_.prepared.insert(id);
      plan_.buffers[id] = {.name = name, .dtype = graph.dtype(id), .shape = graph.shape(id)};
    }
  }

  Plan make() {
    find_needed();
    find_from_parameters();
    find_attentions();
    for (std::size_t i = 0; i < outputs_.values.size(); ++i) {
      const ValueId root = output_root(outputs_.values[i]);
      store(root);
      output_of_[root] = i;
    }
    place_anchors();
    // What leads from a product to its epilogue's end needs no memory, whatever becomes of other chains.
    if (!wants("fuse_chain"))
      for (const ValueId id : needed_)
        if (is_computed(graph_.at(id)) && !plan_.from_parameters.contains(id) && !in_epilogues_.contains(id) && !is_conversion(id))
          store(id);
    store_what_would_be_repeated(
        graph_, needed_,
        {[&](ValueId id) { return is_stored(id); },
         [&](ValueId id) { return !in_attention_.contains(id) && !in_epilogues_.contains(id); }, [&](ValueId id) { store(id); }});
    while (settle_reductions()) {
    }
    make_stages();
    make_buffers();
    for (const Stage& stage : plan_.stages)
      for (const ValueId root : stage.roots)
        reached(root, [&](const Reached& at) {
          if (at.value == root || !is_stored(at.value)) return;
          const bool own = std::ranges::find(stage.roots, at.value) != stage.roots.end();
          if (!own) plan_.read_again.insert(at.value);
          // Where nothing is reduced, all roots of a position are computed together.
          if (own && (stage.has_reductions || stage.anchor >= 0)) plan_.read_back.insert(at.value);
        });
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool wants(const std::string& strategy) const { return strategies_.contains(strategy); }
  [[nodiscard]] bool is_stored(ValueId id) const { return stored_.contains(id) || plan_.prepared.contains(id); }
  void store(ValueId id) { stored_.insert(id); }

  void reached(ValueId root, const std::function<void(const Reached&)>& visit) const {
    visit_reached(
        graph_, root, [&](ValueId id) { return is_stored(id); }, visit);
  }

  [[nodiscard]] ValueId output_root(ValueId output) const {
    const ValueId base = behind_reshapes(graph_, output);
    return is_computed(graph_.at(base)) && !is_stored(base) ? base : output;
  }

  void find_needed() {
    std::vector<ValueId> open = outputs_.values;
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (!needed_.insert(id).second || plan_.prepared.contains(id)) continue;
      for (const ValueId operand : graph_.at(id).operands) open.push_back(operand);
    }
  }

  void find_from_parameters() {
    for (ValueId id = 0; id < graph_.size(); ++id) {
      const Value& value = graph_.at(id);
      // Running values have no element of their own: they, and what is made of them, are computed in stages.
      const bool running = value.kind == ValueKind::scan || value.kind == ValueKind::recurrence;
      bool own = value.kind == ValueKind::argument ? value.parameter : value.kind != ValueKind::scalar && !running;
      for (const ValueId operand : value.operands) own = own && plan_.from_parameters.contains(operand);
      if (own) plan_.from_parameters.insert(id);
    }
  }

  // Attention is one stage where its scores are read by nobody else. Few rows are not worth packing keys for.
  void find_attentions() {
    constexpr std::int64_t kFewestRows = 8;
    for (const char* strategy : {"online_attention", "register_tile", "explicit_vectors"})
      if (!wants(strategy)) return;
    for (const ValueId id : needed_) {
      if (graph_.at(id).kind != ValueKind::product || graph_.shape(id)[1] < kFewestRows) continue;
      auto found = attention_at(graph_, id, [&](ValueId value) { return needed_.contains(value); });
      if (!found || std::ranges::any_of(outputs_.values, [&](ValueId o) { return found->inside.contains(o); })) continue;
      in_attention_.insert(found->inside.begin(), found->inside.end());
      in_epilogues_.insert(found->inside.begin(), found->inside.end());
      plan_.attentions.emplace(id, std::move(*found));
    }
  }

  static bool has_epilogue(const Value& anchor) {
    return anchor.kind != ValueKind::arg_reduce && anchor.kind != ValueKind::recurrence;
  }

  // Products, windows, scans and argument reductions have memory of their own, or that of the epilogue which they end in.
  void place_anchors() {
    for (const ValueId id : needed_) {
      const Value& value = graph_.at(id);
      if (!is_anchor(value) || plan_.prepared.contains(id) || in_attention_.contains(id)) continue;
      const bool fuse = is_contraction(value) ? wants("fuse_epilogue") : wants("fuse_chain");
      const ValueId root = is_stored(id) || !has_epilogue(value) ? id : fuse ? take_epilogue(id) : rounding_of(id);
      store(root);
      anchor_of_[root] = id;
      if (value.kind == ValueKind::convolution && wants("fuse_epilogue")) place_in_output(root);
      if (value.kind == ValueKind::recurrence || (is_contraction(value) && !wants("fuse_prologue"))) {
        for (const ValueId operand : anchor_operands(id)) store_behind_views(operand);
      } else if (is_contraction(value)) {
        for (const ValueId operand : anchor_operands(id))
          if (is_costly_for_several(operand)) store_behind_views(operand);
      }
    }
  }

  // Whether others read it too, and computing it again for each would take longer than reading it from memory.
  [[nodiscard]] bool is_costly_for_several(ValueId id) const {
    const auto readers = [&](ValueId of) {
      return std::ranges::count_if(
          std::set(users_[static_cast<std::size_t>(of)].begin(), users_[static_cast<std::size_t>(of)].end()),
          [&](ValueId user) { return needed_.contains(user); });
    };
    auto several = readers(id) > 1;
    while (graph_.at(id).kind == ValueKind::view || graph_.at(id).kind == ValueKind::reshape) {
      id = graph_.at(id).operands[0];
      several = several || readers(id) > 1;
    }
    bool costly = false;
    reached(id, [&](const Reached& at) {
      const Value& value = graph_.at(at.value);
      costly = costly || (!is_stored(at.value) && value.kind == ValueKind::pointwise && is_maths_function(value.fn));
    });
    return several && costly && !plan_.from_parameters.contains(id);
  }

  // What only moves into an output is written where the output has it, if its rows stay together: channels that are shuffled,
  // pixels that are.
  void place_in_output(ValueId root) {
    if (!outputs_.may_move || output_of_.contains(root)) return;
    std::vector<Movement> moves;
    ValueId last = root;
    while (!output_of_.contains(last)) {
      ValueId user = -1;
      for (const ValueId other : users_[static_cast<std::size_t>(last)]) {
        if (!needed_.contains(other)) continue;
        if (user >= 0 && user != other) return;
        user = other;
      }
      if (user < 0 || !only_moves(user)) return;
      const Value& value = graph_.at(user);
      moves.push_back({graph_.shape(last), value.shape, value.kind == ValueKind::view ? value.map : std::vector<DimMap>{}});
      last = user;
    }
    const bool read_again =
        std::ranges::any_of(users_[static_cast<std::size_t>(last)], [&](ValueId o) { return needed_.contains(o); });
    if (read_again || std::ranges::count(outputs_.values, last) != 1 || !rows_stay_together(moves)) return;
    output_of_[root] = output_of_.at(last);
    output_of_.erase(last);
    stored_.erase(last);
    moves_[root] = std::move(moves);
  }

  // Whether a value has each element of its operand once.
  [[nodiscard]] bool only_moves(ValueId id) const {
    const Value& value = graph_.at(id);
    if (value.kind != ValueKind::view && value.kind != ValueKind::reshape) return false;
    const Shape& from = graph_.shape(value.operands[0]);
    if (from.empty() || value.shape.empty() || numel(from) != numel(value.shape) || numel(from) == 0) return false;
    std::set<int> taken;
    for (std::size_t d = 0; d < value.map.size(); ++d) {
      const DimMap& map = value.map[d];
      if (map.out_dim < 0 ? from[d] != 1 : map.scale != 1 || map.offset != 0 || !taken.insert(map.out_dim).second) return false;
      if (map.out_dim >= 0 && from[d] != value.shape[static_cast<std::size_t>(map.out_dim)]) return false;
    }
    return true;
  }

  // Whether the first and the last row lie in the output with one small distance from element to element.
  static bool rows_stay_together(const std::vector<Movement>& moves) {
    constexpr std::int64_t kFarthest = 4;
    const Shape& shape = moves.front().from;
    std::vector<std::int64_t> first(shape.size(), 0), last;
    for (const auto size : shape) last.push_back(size - 1);
    std::int64_t distance = 0;
    for (std::vector<std::int64_t> at : {first, last})
      for (std::int64_t x = 1; x < shape.back(); ++x) {
        at.back() = x - 1;
        const std::int64_t before = moved_position(moves, at);
        at.back() = x;
        const std::int64_t here = moved_position(moves, at) - before;
        if (here < 1 || here > kFarthest || (distance != 0 && here != distance)) return false;
        distance = here;
      }
    return true;
  }

  static std::int64_t moved_position(const std::vector<Movement>& moves, std::vector<std::int64_t> at) {
    const auto flat = [](const std::vector<std::int64_t>& index, const Shape& shape) {
      std::int64_t position = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
      return position;
    };
    for (const Movement& move : moves) {
      std::vector<std::int64_t> next(move.to.size(), 0);
      std::int64_t rest = flat(at, move.from);
      for (std::size_t d = move.to.size(); move.map.empty() && d-- > 0; rest /= move.to[d]) next[d] = rest % move.to[d];
      for (std::size_t d = 0; d < move.map.size(); ++d)
        if (move.map[d].out_dim >= 0) next[static_cast<std::size_t>(move.map[d].out_dim)] = at[d];
      at = std::move(next);
    }
    return flat(at, moves.back().to);
  }

  // What a stage's anchor reads: of attention, also queries and keys.
  [[nodiscard]] std::vector<ValueId> anchor_operands(ValueId anchor) const {
    const auto attention = plan_.attentions.find(anchor);
    if (attention == plan_.attentions.end()) return graph_.at(anchor).operands;
    std::vector<ValueId> operands = graph_.at(attention->second.product).operands;
    operands.push_back(graph_.at(anchor).operands[1]);
    return operands;
  }

  // A mask of positions over an argument costs nothing to read through, and says which part of the operand is zero.
  [[nodiscard]] bool is_masked_argument(ValueId id) const {
    if (!wants("skip_zero_triangle") && !wants("diagonal_as_scale")) return false;
    bool only_mask = true;
    visit_reached(
        graph_, id, [&](ValueId value) { return is_stored(value); },
        [&](const Reached& at) {
          const Value& value = graph_.at(at.value);
          static const std::set<std::string> masks{"where", "le", "ge", "eq", "lt", "gt", "add", "and"};
          if (is_computed(value) && !(value.kind == ValueKind::pointwise && masks.contains(value.fn))) only_mask = false;
        });
    return only_mask;
  }

  void store_behind_views(ValueId id) {
    id = behind_views(graph_, behind_widening(graph_, id));
    if (outputs_.prologues && plan_.from_parameters.contains(id) && lies_narrow(graph_, id)) return;
    if (is_computed(graph_.at(id)) && !is_stored(id) && !is_masked_argument(id)) store(id);
  }

  // The only value that reads another one, -1: there is none or are several.
  [[nodiscard]] ValueId only_user(ValueId id) const {
    ValueId only = -1;
    for (const ValueId user : users_[static_cast<std::size_t>(id)]) {
      if (!needed_.contains(user)) continue;
      if (only >= 0) return -1;
      only = user;
    }
    return std::ranges::find(outputs_.values, id) == outputs_.values.end() ? only : -1;
  }

  // Between float32 and 16 bits: a part of the load, or of the store, that it stands at.
  [[nodiscard]] bool is_conversion(ValueId id) const {
    if (behind_widening(graph_, id) != id) return true;
    const ValueId user = only_user(id);
    return user >= 0 && rounds_to_16_bits(graph_, user);
  }

  // Where nothing else follows an anchor: its result, rounded as it is stored.
  ValueId rounding_of(ValueId anchor) {
    ValueId id = anchor;
    for (;;) {
      const ValueId user = only_user(id);
      if (user < 0 || (graph_.at(anchor).kind != ValueKind::product && graph_.shape(user) != graph_.shape(anchor))) return anchor;
      const bool reshapes = behind_reshapes(graph_, user) != user;
      if (!reshapes && !rounds_to_16_bits(graph_, user)) return anchor;
      id = user;
      if (reshapes) continue;
      for (ValueId between = id; between != anchor; between = graph_.at(between).operands[0]) in_epilogues_.insert(between);
      in_epilogues_.insert(anchor);
      return id;
    }
  }

  // The last pointwise value through which everything that reads the anchor goes, each at the anchor's own position. What lies
  // between belongs to this anchor from now on: another one that leads into it ends before.
  ValueId take_epilogue(ValueId anchor) {
    const std::int64_t count = numel(graph_.shape(anchor));
    std::set<ValueId> region{anchor};
    std::set<ValueId> taken;
    ValueId end = anchor;
    for (const ValueId id : needed_) {
      if (id <= anchor) continue;
      const Value& value = graph_.at(id);
      const bool touches = std::ranges::any_of(value.operands, [&](ValueId o) { return region.contains(o); });
      if (!touches) continue;
      const bool plain = value.kind == ValueKind::pointwise || (value.kind == ValueKind::reshape) ||
                         (value.kind == ValueKind::view && behind_reshapes(graph_, id) != id);
      if (!plain || numel(value.shape) != count) continue;
      if (graph_.at(anchor).kind != ValueKind::product && value.shape != graph_.shape(anchor)) continue;
      if (in_epilogues_.contains(id)) break;
      region.insert(id);
      if (value.kind == ValueKind::pointwise && gathers_all(region, anchor, id)) {
        end = id;
        taken = region;
      }
      if (is_stored(id)) break;
    }
    in_epilogues_.merge(taken);
    return end;
  }

  // Whether all that reads the region before `last` leads into it, and nothing of it has to be stored.
  [[nodiscard]] bool gathers_all(const std::set<ValueId>& region, ValueId anchor, ValueId last) const {
    std::set<ValueId> leading{last};
    for (auto it = region.rbegin(); it != region.rend(); ++it) {
      if (*it == last) continue;
      if (*it != anchor && is_stored(*it)) return false;
      bool leads = false;
      for (const ValueId user : users_[static_cast<std::size_t>(*it)]) {
        if (!needed_.contains(user)) continue;
        if (!leading.contains(user)) return false;
        leads = true;
      }
      if (!leads) return false;
      leading.insert(*it);
    }
    return true;
  }

  // Marks one more reduction that cannot stay inside the stage that reads it; false: all have found their place.
  bool settle_reductions() {
    for (const ValueId root : std::set<ValueId>(stored_)) {
      const bool anchored = anchor_of_.contains(root);
      std::vector<Reached> inside;
      reached(root, [&](const Reached& at) {
        const ValueKind kind = graph_.at(at.value).kind;
        if ((kind == ValueKind::reduce || kind == ValueKind::arg_reduce) && (at.value == root || !is_stored(at.value)) &&
            !in_attention_.contains(at.value))
          inside.push_back(at);
      });
      ValueId largest = -1;
      std::uint64_t rows = 0;
      for (const auto& at : inside) {
        if (at.value != root && anchored) return store(operand_around(anchor_of_.at(root), at.value)), true;
        if (at.value != root && !wants("fuse_row_passes")) return store(at.value), true;
        if (at.within >= 0) {  // inside another reduction
          if ((at.dims() & kReducedBit) == 0) continue;
          const ValueId whole = graph_.at(at.within).operands[0];
          const ValueId computed = behind_reshapes(graph_, whole);
          const bool cheap = numel(graph_.shape(whole)) <= 4 * numel(graph_.shape(at.value));
          return settle(cheap && is_computed(graph_.at(computed)) ? computed : result_around(at.value), at.value);
        }
        const std::int64_t work = numel(graph_.shape(graph_.at(at.value).operands[0]));
        if (largest < 0 || work > numel(graph_.shape(graph_.at(largest).operands[0]))) {
          largest = at.value;
          rows = at.dims();
        }
      }
      for (const auto& at : inside) {
        if (at.value == root) continue;
        const std::int64_t work = numel(graph_.shape(graph_.at(at.value).operands[0]));
        const bool same_rows = at.dims() == rows && positions(root, rows) <= numel(graph_.shape(at.value));
        const bool enough = positions(root, rows) >= 2 * threads_ || work < kSmallWork;
        if (!same_rows || !enough) return settle(enough ? result_around(at.value) : at.value, at.value);
      }
    }
    return false;
  }

  // What is around a reduction may have memory already: then the reduction itself gets some, and there is one less to settle.
  bool settle(ValueId around, ValueId reduction) {
    store(is_stored(around) ? reduction : around);
    return true;
  }

  // What everything that reads a reduction makes of it first, without growing beyond what it reduces: a whole softmax, say, whose
  // maximum, sum and quotient are then one visit of each row.
  [[nodiscard]] ValueId result_around(ValueId reduction) const {
    if (!wants("fuse_row_passes") || !wants("fuse_chain")) return reduction;
    const std::int64_t most = numel(graph_.shape(graph_.at(reduction).operands[0]));
    std::set<ValueId> region{reduction};
    ValueId end = reduction;
    for (const ValueId id : needed_) {
      const Value& value = graph_.at(id);
      if (id <= reduction || std::ranges::none_of(value.operands, [&](ValueId o) { return region.contains(o); })) continue;
      if (numel(value.shape) > most || is_anchor(value)) break;
      region.insert(id);
      if (value.kind == ValueKind::pointwise && gathers_all(region, reduction, id)) end = id;
      if (is_stored(id)) break;
    }
    return end;
  }

  // Products and windows read each element many times: an operand with a reduction in it is computed as a whole before them.
  [[nodiscard]] ValueId operand_around(ValueId anchor, ValueId reduction) const {
    const ValueKind kind = graph_.at(anchor).kind;
    if (!is_contraction(graph_.at(anchor)) && kind != ValueKind::window) return reduction;
    for (ValueId operand : anchor_operands(anchor)) {
      operand = behind_views(graph_, operand);
      if (!is_computed(graph_.at(operand)) || is_stored(operand)) continue;
      bool inside = false;
      reached(operand, [&](const Reached& at) { inside = inside || at.value == reduction; });
      if (inside) return operand;
    }
    return reduction;
  }

  // How many positions the given dimensions of a root have.
  [[nodiscard]] std::int64_t positions(ValueId root, std::uint64_t dims) const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < graph_.shape(root).size(); ++d)
      if ((dims >> d & 1) != 0) count *= graph_.shape(root)[d];
    return count;
  }

  void make_stages() {
    for (const ValueId root : stored_) {
      Stage stage;
      stage.roots = {root};
      if (const auto found = anchor_of_.find(root); found != anchor_of_.end()) stage.anchor = found->second;
      std::uint64_t rows = 0;
      int reductions = 0;
      bool chain = false;
      reached(root, [&](const Reached& at) {
        const Value& value = graph_.at(at.value);
        if (in_attention_.contains(at.value)) return;
        if (at.value != root && is_computed(value) && !is_stored(at.value) && at.value != stage.anchor && !is_conversion(at.value))
          chain = true;
        if (value.kind != ValueKind::reduce || (at.value != root && is_stored(at.value))) return;
        ++reductions;
        if (at.within < 0) rows |= at.dims();
      });
      stage.has_reductions = reductions > 0;
      for (int d = 0; d < static_cast<int>(graph_.shape(root).size()); ++d)
        if (!stage.has_reductions || (rows >> d & 1) != 0) stage.row_dims.push_back(d);
      // Products and convolutions have a strategy of their own for what follows them.
      if (stage.anchor >= 0 && stage.anchor != root && !is_contraction(graph_.at(stage.anchor)) && !is_conversion(stage.anchor))
        chain = true;
      if (chain) plan_.fused.emplace_back("fuse_chain");
      if (reductions > 0 && (reductions > 1 || graph_.at(root).kind != ValueKind::reduce))
        plan_.fused.emplace_back("fuse_row_passes");
      plan_.stages.push_back(std::move(stage));
    }
    join_stages();
  }

  // Whether every read of `earlier` in a stage is at the stage's own position of the given dimensions.
  [[nodiscard]] bool reads_in_place(const Stage& stage, ValueId earlier, const std::vector<int>& dims) const {
    bool in_place = true;
    for (const ValueId root : stage.roots)
      reached(root, [&](const Reached& at) {
        if (at.value != earlier) return;
        for (const int d : dims) {
          const auto& use = at.uses[static_cast<std::size_t>(d)];
          if (graph_.shape(earlier)[static_cast<std::size_t>(d)] != 1 && use.same != d) in_place = false;
        }
      });
    return in_place;
  }

  [[nodiscard]] bool reads(const Stage& stage, ValueId value) const {
    bool found = false;
    for (const ValueId root : stage.roots)
      reached(root, [&](const Reached& at) { found = found || (at.value == value && at.value != root); });
    return found;
  }

  // An extreme and its position, found in one pass.
  void join_extremes() {
    if (!wants("fuse_row_passes")) return;
    for (Stage& stage : plan_.stages) {
      if (stage.anchor < 0 || graph_.at(stage.anchor).kind != ValueKind::arg_reduce || stage.roots != std::vector{stage.anchor})
        continue;
      const Value& arg = graph_.at(stage.anchor);
      const auto same = [&](const Stage& other) {
        const Value& value = graph_.at(other.roots[0]);
        return other.roots.size() == 1 && value.kind == ValueKind::reduce && value.fn == arg.fn && value.operands == arg.operands &&
               value.dims == arg.dims && value.shape == arg.shape;
      };
      const auto found = std::ranges::find_if(plan_.stages, same);
      if (found == plan_.stages.end()) continue;
      const ValueId extreme = found->roots[0];
      if (std::ranges::any_of(plan_.stages, [&](const Stage& other) { return reads(other, extreme); })) continue;
      stage.roots.push_back(extreme);
      plan_.stages.erase(found);
      plan_.fused.emplace_back("fuse_row_passes");
      return join_extremes();
    }
  }

  // Stages of one shape become one, where that saves reading the same memory again: pointwise ones side by side, and one before
  // the rows that read it.
  void join_stages() {
    join_extremes();
    if (!wants("fuse_chain")) return;
    std::vector<Stage> joined;
    for (Stage& stage : plan_.stages) {
      Stage* before = joined.empty() ? nullptr : &joined.back();
      const auto plain = [&](const Stage& s) {
        return s.anchor < 0 && !s.has_reductions && graph_.at(s.roots[0]).kind == ValueKind::pointwise;
      };
      const bool possible = before != nullptr && plain(*before) && stage.anchor < 0 &&
                            graph_.shape(before->roots[0]) == graph_.shape(stage.roots[0]) &&
                            numel(graph_.shape(stage.roots[0])) > 1;
      bool join = possible && (plain(stage) ? shares_memory(*before, stage) : stage.has_reductions && wants("fuse_row_passes"));
      if (join && stage.has_reductions)
        join = std::ranges::all_of(before->roots,
                                   [&](ValueId r) { return reads(stage, r) && reads_in_place(stage, r, stage.row_dims); });
      if (join && !stage.has_reductions)
        join = std::ranges::all_of(before->roots, [&](ValueId r) { return reads_in_place(stage, r, all_of(r)); });
      if (!join) {
        joined.push_back(std::move(stage));
        continue;
      }
      stage.roots.insert(stage.roots.begin(), before->roots.begin(), before->roots.end());
      plan_.fused.emplace_back(stage.has_reductions ? "fuse_row_passes" : "fuse_chain");
      *before = std::move(stage);
    }
    plan_.stages = std::move(joined);
  }

  [[nodiscard]] std::vector<int> all_of(ValueId root) const {
    std::vector<int> dims(graph_.shape(root).size());
    for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int>(d);
    return dims;
  }

  [[nodiscard]] bool shares_memory(const Stage& a, const Stage& b) const {
    const auto memory = [&](const Stage& stage) {
      std::set<ValueId> all(stage.roots.begin(), stage.roots.end());
      for (const ValueId root : stage.roots)
        reached(root, [&](const Reached& at) {
          if (graph_.at(at.value).kind == ValueKind::argument || is_stored(at.value)) all.insert(at.value);
        });
      return all;
    };
    const auto of_a = memory(a);
    return std::ranges::any_of(memory(b), [&](ValueId id) { return of_a.contains(id); });
  }

  void make_buffers() {
    const auto halves = outputs_.halves ? factors_of_16_bits(graph_, needed_) : std::map<ValueId, DType>{};
    for (const ValueId root : stored_) {
      Buffer buffer;
      buffer.dtype = halves.contains(root) && !output_of_.contains(root) ? halves.at(root) : graph_.dtype(root);
      buffer.shape = graph_.shape(root);
      if (const auto found = output_of_.find(root); found != output_of_.end()) {
        buffer.name = outputs_.specs[found->second]->c_name;
        buffer.output = true;
      }
      if (const auto found = moves_.find(root); found != moves_.end()) buffer.moves = found->second;
      plan_.buffers[root] = std::move(buffer);
    }
  }

  const Graph& graph_;
  const PlannedOutputs& outputs_;
  const std::set<std::string>& strategies_;
  int threads_;
  std::vector<std::vector<ValueId>> users_;
  std::set<ValueId> needed_;
  std::set<ValueId> stored_;
  std::map<ValueId, ValueId> anchor_of_;
  std::set<ValueId> in_attention_;  // inside of one
  std::set<ValueId> in_epilogues_;  // anchors and what follows each, to its root
  std::map<ValueId, std::size_t> output_of_;
  std::map<ValueId, std::vector<Movement>> moves_;  // from what is stored to the output that it is stored as
  Plan plan_;
};

}  // namespace

Plan make_plan(const Graph& graph, const PlannedOutputs& outputs, const std::set<std::string>& strategies, int threads,
               const std::map<ValueId, std::string>& prepared) {
  return Planner(graph, outputs, strategies, threads, prepared).make();
}

}  // namespace kw
