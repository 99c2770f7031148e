#include "playbook/repeated_work.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "playbook/emit.h"
#include "playbook/reach.h"
#include "playbook/writing_limit.h"

namespace kw {
namespace {

class Expansion {
 public:
  Expansion(const Graph& graph, ValueId root, const std::function<bool(ValueId)>& is_stored)
      : graph_(graph), root_(root), is_stored_(is_stored) {}

  RepeatedWork count() {
    Index index;
    for (const std::int64_t size : graph_.shape(root_)) index.push_back(size == 1 ? Affine(0) : variable(size));
    visit(root_, index);
    return std::move(work_);
  }

 private:
  Affine variable(std::int64_t size) {
    ranges_.push_back({0, std::max<std::int64_t>(size - 1, 0)});
    return Affine::variable(static_cast<VarId>(ranges_.size()) - 1);
  }

  static std::string key(const Index& index) {
    std::string key;
    for (const auto& part : index) {
      key += fmt::format(";{}", part.constant);
      for (const auto& [var, coefficient] : part.terms) key += fmt::format("+{}*{}", coefficient, var);
    }
    return key;
  }

  Index unflatten(const Affine& flat, const Shape& shape) {
    Index index(shape.size());
    Affine rest = flat;
    const auto strides = contiguous_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d + 1 == shape.size()) {
        index[d] = rest;
      } else if (shape[d] > 1) {
        const Division division = divide(rest, strides[d], ranges_);
        if (division.exact) {
          index[d] = division.quotient;
        } else {
          const auto [found, is_new] = quotients_.emplace(fmt::format("{}/{}", key({rest}), strides[d]), -1);
          if (is_new) found->second = variable(shape[d]).terms.begin()->first;
          index[d] = Affine::variable(found->second);
        }
        rest = rest - index[d] * strides[d];
      }
    }
    return index;
  }

  [[nodiscard]] static Affine flat_position(const Index& index, const Shape& shape) {
    Affine flat;
    const auto strides = contiguous_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) flat = flat + index[d] * (shape[d] == 1 ? 0 : strides[d]);
    return flat;
  }

  // Of what is computed for each position: a long reduction is worth keeping wherever it is read twice.
  [[nodiscard]] double operations_of(const Value& value) const {
    constexpr double kCostly = 8;
    if (value.kind == ValueKind::reduce || value.kind == ValueKind::arg_reduce)
      return static_cast<double>(numel(graph_.shape(value.operands[0]))) /
             static_cast<double>(std::max<std::int64_t>(1, numel(value.shape)));
    return is_costly(value) ? kCostly : 1;
  }

  void note(ValueId id) {
    const Value& value = graph_.at(id);
    if (!is_computed(value)) return;
    const double operations = operations_of(value);
    work_.all += operations;
    // In another loop the same value is computed for another pass over its row: that is the affair of families of rows.
    if (times_[{id, loops_}]++ > 0) {
      work_.repeated += operations;
      ++work_.again[id];
    }
  }

  void visit(ValueId id, const Index& index) {
    count_writing();
    if (++visited_ > kMostExpanded) return;
    if (!known_.insert(fmt::format("{}{}", id, key(index))).second) return;
    const Value& value = graph_.at(id);
    if (id != root_ && is_stored_(id)) return;
    note(id);
    switch (value.kind) {
      case ValueKind::view:
        return visit(value.operands[0], behind_view(value, index));
      case ValueKind::reshape:
        return visit(value.operands[0], unflatten(flat_position(index, value.shape), graph_.shape(value.operands[0])));
      case ValueKind::concat:
        return visit_concat(value, index);
      case ValueKind::pad:
        return visit_pad(value, index);
      case ValueKind::gather: {
        visit(value.operands[1], index);
        Index inner = index;
        const auto dim = static_cast<std::size_t>(value.dims[0]);
        const auto [found, is_new] = quotients_.emplace(fmt::format("pick {}{}", value.operands[1], key(index)), -1);
        if (is_new) found->second = variable(graph_.shape(value.operands[0])[dim]).terms.begin()->first;
        inner[dim] = Affine::variable(found->second);
        return visit(value.operands[0], inner);
      }
      case ValueKind::reduce:
      case ValueKind::arg_reduce: {
        Index reduced;
        for (const int d : value.dims) reduced.push_back(variable(graph_.shape(value.operands[0])[static_cast<std::size_t>(d)]));
        return in_loop([&] { visit(value.operands[0], operand_index(value, index, reduced)); });
      }
      case ValueKind::pointwise:
        for (const ValueId operand : value.operands) visit(operand, index);
        return;
      case ValueKind::argument:
      case ValueKind::scalar:
      case ValueKind::constant:
      case ValueKind::table:
      case ValueKind::iota:
        return;
      default:  // what has loops of its own reads each of its operands once in them
        in_loop([&] {
          for (const ValueId operand : value.operands) {
            Index inner;
            for (const std::int64_t size : graph_.shape(operand)) inner.push_back(variable(size));
            visit(operand, inner);
          }
        });
    }
  }

  template <typename Body>
  void in_loop(const Body& body) {
    const int around = loops_;
    loops_ = ++opened_;
    body();
    loops_ = around;
  }

  // Beside a seam both parts are computed, each at a position of its own that stays within it.
  void visit_concat(const Value& value, const Index& index) {
    const auto dim = static_cast<std::size_t>(value.dims[0]);
    const Range range = range_of(index[dim], ranges_);
    std::int64_t end = 0;
    for (const ValueId operand : value.operands) {
      const std::int64_t size = graph_.shape(operand)[dim];
      end += size;
      if (range.high < end - size || range.low >= end) continue;
      Index inner = index;
      const bool inside = range.low >= end - size && range.high < end;
      inner[dim] = inside ? index[dim] - Affine(end - size) : variable(size);
      visit(operand, inner);
    }
  }

  void visit_pad(const Value& value, const Index& index) {
    const Shape& shape = graph_.shape(value.operands[0]);
    Index inner;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Affine position = index[d] - Affine(value.before[d]);
      const Range range = range_of(position, ranges_);
      inner.push_back(range.low >= 0 && range.high < shape[d] ? position : variable(shape[d]));
    }
    visit(value.operands[0], inner);
  }

  const Graph& graph_;
  ValueId root_;
  const std::function<bool(ValueId)>& is_stored_;
  std::vector<Range> ranges_;
  std::map<std::string, VarId> quotients_;
  std::set<std::string> known_;
  std::map<std::pair<ValueId, int>, int> times_;  // how often a value was computed in a loop
  int loops_ = 0, opened_ = 0;
  double visited_ = 0;
  RepeatedWork work_;
};

// What is repeated grows from value to value, so that each is looked at when those that it reads have been settled.
class Settling {
 public:
  Settling(const Graph& graph, const std::set<ValueId>& needed, const Storing& storing)
      : graph_(graph), needed_(needed), storing_(storing), users_(users_of(graph)), work_(users_.size(), 0) {}

  void run() {
    std::vector<bool> moves(users_.size(), false);  // whether anything below it is read at another position than its own
    for (const ValueId id : needed_) {
      const Value& value = graph_.at(id);
      const auto at = static_cast<std::size_t>(id);
      moves[at] = value.kind == ValueKind::view || value.kind == ValueKind::reshape || value.kind == ValueKind::concat ||
                  value.kind == ValueKind::pad || value.kind == ValueKind::gather;
      work_[at] = is_computed(value) ? 1 : 0;
      for (const ValueId operand : value.operands) {
        if (storing_.is_stored(operand)) continue;
        moves[at] = moves[at] || moves[static_cast<std::size_t>(operand)];
        work_[at] = std::min(work_[at] + work_[static_cast<std::size_t>(operand)], kMostExpanded);
      }
      if (!moves[at] || !is_computed(value)) continue;
      if (storing_.is_stored(id) || (storing_.may_be_stored(id) && is_read_in_several_ways(id))) settle(id);
    }
  }

 private:
  // Whether it has several readers, views of it apart.
  [[nodiscard]] bool is_read_in_several_ways(ValueId id) const {
    const auto& users = users_[static_cast<std::size_t>(id)];
    if (users.size() != 1) return users.size() > 1;
    const ValueKind kind = graph_.at(users[0]).kind;
    return (kind == ValueKind::view || kind == ValueKind::reshape) && is_read_in_several_ways(users[0]);
  }

  void settle(ValueId id) {
    constexpr double kMostRepeated = 32;  // operations for an element that cost less than writing and reading it
    for (;;) {
      const RepeatedWork found = repeated_work(graph_, id, storing_.is_stored);
      work_[static_cast<std::size_t>(id)] = found.all;
      if (found.repeated <= kMostRepeated) return;
      ValueId costliest = -1;
      double most = 0;
      for (const auto& [again, times] : found.again) {
        const double saved = times * work_[static_cast<std::size_t>(again)];
        if (again == id || !storing_.may_be_stored(again) || saved < most) continue;
        costliest = again;
        most = saved;
      }
      if (costliest < 0) return;
      storing_.store(costliest);
      settle(costliest);  // it begins a stage of its own
    }
  }

  const Graph& graph_;
  const std::set<ValueId>& needed_;
  const Storing& storing_;
  std::vector<std::vector<ValueId>> users_;
  std::vector<double> work_;  // operations for one element of each value, those of what it reads included
};

}  // namespace

void store_what_would_be_repeated(const Graph& graph, const std::set<ValueId>& needed, const Storing& storing) {
  Settling(graph, needed, storing).run();
}

RepeatedWork repeated_work(const Graph& graph, ValueId root, const std::function<bool(ValueId)>& is_stored) {
  return Expansion(graph, root, is_stored).count();
}

}  // namespace kw
