// The steps of a recurrent layer, one after the other: sums over the state before, gates, the state after. Threads share out the
// units of a step and wait for each other once a step; a unit's gates are neighbours in a packed copy of the weights.
#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

constexpr std::int64_t kWorthWaiting = 1 << 17;  // multiplications of a step that are worth a barrier

// Sums of `rows` samples for one vector of units: each gate from its bias on, over the state before.
constexpr const char* kStateSums = R"(template <int rows, int gates>
KW_INLINE void kw_state_sums(const float* before, std::int64_t units, const float* weights, const float* bias, float* sums) {
  kw_vec sum[rows][gates];
  for (int r = 0; r < rows; ++r)
    for (int g = 0; g < gates; ++g) sum[r][g] = kw_load(bias + g * kw_lanes);
  for (std::int64_t k = 0; k < units; ++k, weights += gates * kw_lanes) {
    kw_vec weight[gates];
    for (int g = 0; g < gates; ++g) weight[g] = kw_load(weights + g * kw_lanes);
    for (int r = 0; r < rows; ++r) {
      const kw_vec x = kw_splat(before[r * units + k]);
      for (int g = 0; g < gates; ++g) sum[r][g] += x * weight[g];
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int g = 0; g < gates; ++g) kw_store(sums + (r * gates + g) * kw_lanes, sum[r][g]);
}
// As many samples at a time as there are registers for.
template <int gates>
static void kw_state_gates(const float* before, std::int64_t samples, std::int64_t units, const float* weights, const float* bias,
                           float* sums) {
  constexpr int rows = (kw_lanes == 16 ? 24 : 12) / gates;
  std::int64_t n = 0;
  for (; n + rows <= samples; n += rows)
    kw_state_sums<rows, gates>(before + n * units, units, weights, bias, sums + n * gates * kw_lanes);
  for (; n + 2 <= samples; n += 2)
    kw_state_sums<2, gates>(before + n * units, units, weights, bias, sums + n * gates * kw_lanes);
  if (n < samples) kw_state_sums<1, gates>(before + n * units, units, weights, bias, sums + n * gates * kw_lanes);
})";

class RecurrenceText {
 public:
  RecurrenceText(StageWriter& writer, const Stage& stage)
      : w_(writer),
        e_(writer.emitter),
        steps_(writer.graph.at(stage.anchor)),
        out_(writer.buffer(stage.anchor)),
        length_(writer.graph.shape(steps_.operands[0])[0]),
        samples_(steps_.shape[1]),
        units_(steps_.shape[2]),
        gates_(writer.graph.shape(steps_.operands[0])[2] / units_),
        has_cell_(steps_.operands.size() > 4) {}

  void write() {
    first_ = w_.scratch("first_state", "float", fmt::format("{}", samples_ * units_));
    copy(steps_.operands[1], {.name = first_, .dtype = DType::f32, .shape = {samples_, units_}}, {});
    if (has_cell_) copy(steps_.operands[4], out_, {Affine(length_)});
    if (w_.wants("explicit_vectors") && w_.attempt([&] { vectors(); })) return;
    plain();
  }

 private:
  void copy(ValueId from, const Buffer& to, Index before) {
    const VarId n = e_.open_loop("n", samples_);
    const VarId j = e_.open_loop("j", units_);
    const Index at{Affine::variable(n), Affine::variable(j)};
    before.insert(before.end(), at.begin(), at.end());
    e_.store(to, before, e_.emit(from, at));
    e_.close();
    e_.close();
  }

  // Opens the loop over the steps; the position in the sequence.
  VarId open_steps(const std::string& pragma) {
    const VarId step = e_.open_loop("step", length_, pragma);
    const bool back = steps_.number == kScanFromTheEnd;
    const VarId t = e_.define("t", back ? fmt::format("{} - {}", length_ - 1, e_.name(step)) : e_.name(step), {0, length_ - 1});
    before_ = e_.unique("before");
    e_.line(fmt::format("const float* const {} = {} == 0 ? {} : {} + ({} {} 1) * {};", before_, e_.name(step), first_, out_.name,
                        e_.name(t), back ? "+" : "-", samples_ * units_));
    return t;
  }

  Expr here(const std::string& hint, const Expr& value) {
    return e_.named_at(e_.depth(), hint, value.text, value.dtype, value.vector);
  }
  Expr one(const char* fn, const Expr& a) { return here(fn, e_.apply(fn, {a}, DType::f32)); }
  Expr two(const char* fn, const Expr& a, const Expr& b) { return here(fn, e_.apply(fn, {a, b}, DType::f32)); }

  // The state after a step, from the gates' sums, and its store.
  void finish(VarId t, VarId n, VarId j, const std::vector<Expr>& sums) {
    const auto given = [&](std::int64_t gate) {
      return e_.emit(steps_.operands[0], {Affine::variable(t), Affine::variable(n), Affine::variable(j) + Affine(gate * units_)});
    };
    const auto both = [&](std::int64_t gate) { return two("add", given(gate), sums[static_cast<std::size_t>(gate)]); };
    Expr state;
    if (steps_.fn == "lstm") {
      const Index place{Affine(length_), Affine::variable(n), Affine::variable(j)};
      const Expr cell = here("cell", e_.load(out_.name, e_.flatten(place, out_.shape), DType::f32));
      const Expr kept = two("mul", one("sigmoid", both(1)), cell);
      const Expr next = two("add", kept, two("mul", one("sigmoid", both(0)), one("tanh", both(2))));
      e_.store(out_, place, next);
      state = two("mul", one("sigmoid", both(3)), one("tanh", next));
    } else if (steps_.fn == "gru") {
      const Affine place = Affine::variable(n) * units_ + Affine::variable(j);
      const Expr old = here("old", e_.load(before_, place, DType::f32));
      const Expr candidate = one("tanh", two("add", given(2), two("mul", one("sigmoid", both(0)), sums[2])));
      state = two("add", two("mul", two("sub", old, candidate), one("sigmoid", both(1))), candidate);
    } else {
      state = one(steps_.fn.c_str(), both(0));
    }
    e_.store(out_, {Affine::variable(t), Affine::variable(n), Affine::variable(j)}, state);
  }

  // One thread, one unit after the other.
  void plain() {
    const VarId t = open_steps("");
    const VarId n = e_.open_loop("n", samples_);
    const VarId j = e_.open_loop("j", units_);
    std::vector<Expr> sums;
    for (std::int64_t gate = 0; gate < gates_; ++gate) {
      const Affine row = Affine::variable(j) + Affine(gate * units_);
      const std::string sum = e_.unique("sum");
      e_.line(fmt::format("double {} = {};", sum, e_.emit(steps_.operands[3], {row}).text));
      const VarId k = e_.open_loop("k", units_);
      const std::string state = fmt::format("{}[{}]", before_, e_.text(Affine::variable(n) * units_ + Affine::variable(k)));
      e_.line(fmt::format("{} += double({}) * {};", sum, state, e_.emit(steps_.operands[2], {row, Affine::variable(k)}).text));
      e_.close();
      sums.push_back(e_.named_at(e_.depth(), "gate", fmt::format("float({})", sum), DType::f32, false));
    }
    finish(t, n, j, sums);
    for (int i = 0; i < 3; ++i) e_.close();
  }

  // The weights of each vector of units, gate by gate, for one element of the state before after the other; then the biases.
  void pack(Emitter& to, const std::string& name) const {
    to.line(fmt::format("for (std::int64_t i = 0; i < {}; ++i) {}[i] = 0;", packed_count(), name));
    const VarId g = to.open_loop("g", gates_);
    const VarId j = to.open_loop("j", units_);
    const Affine row = Affine::variable(g) * units_ + Affine::variable(j);
    const std::string place = fmt::format("{0} / kw_lanes * {1} * kw_lanes + {2} * kw_lanes + {0} % kw_lanes", to.name(j),
                                          (units_ + 1) * gates_, to.name(g));
    to.line(fmt::format("{}[{} + {} * kw_lanes] = {};", name, place, units_ * gates_, to.emit(steps_.operands[3], {row}).text));
    const VarId k = to.open_loop("k", units_);
    to.line(fmt::format("{}[{} + {} * {} * kw_lanes] = {};", name, place, to.name(k), gates_,
                        to.emit(steps_.operands[2], {row, Affine::variable(k)}).text));
    for (int i = 0; i < 3; ++i) to.close();
  }
  [[nodiscard]] std::string packed_count() const {
    return fmt::format("({} + kw_lanes - 1) / kw_lanes * kw_lanes * {}", units_, (units_ + 1) * gates_);
  }

  void vectors() {
    for (const char* piece : {"vec", "load", "store", "splat"}) e_.need(piece);
    w_.declare(kStateSums);
    const bool constant =
        w_.plan.from_parameters.contains(steps_.operands[2]) && w_.plan.from_parameters.contains(steps_.operands[3]);
    std::string weights;
    if (constant && w_.use("prepack_weights")) {
      weights = w_.prepared("weights_packed", packed_count(), [&](Emitter& to, const std::string& name) { pack(to, name); });
    } else {
      weights = w_.scratch("weights_packed", "float", packed_count());
      pack(e_, weights);
    }
    const bool share = w_.machine.threads > 1 && units_ >= 2 * kMostLanes && samples_ * gates_ * units_ * units_ >= kWorthWaiting &&
                       w_.use("parallel_outer");
    const std::string sums = w_.scratch("gate_sums", "float", fmt::format("{} * kw_lanes", samples_ * gates_), true);
    w_.use("explicit_vectors");
    w_.use("register_tile");
    const VarId t = open_steps(share ? "#pragma omp parallel" : "");
    const auto units = [&](VarId j) {
      const std::string panel = e_.unique("panel");
      e_.line(fmt::format("const float* const {} = {} + {} * {};", panel, weights, e_.name(j), (units_ + 1) * gates_));
      e_.line(fmt::format("kw_state_gates<{0}>({1}, {2}, {3}, {4}, {4} + {5} * kw_lanes, {6});", gates_, before_, samples_, units_,
                          panel, units_ * gates_, sums));
      const VarId n = e_.open_loop("n", samples_);
      std::vector<Expr> gates;
      for (std::int64_t gate = 0; gate < gates_; ++gate)
        gates.push_back(e_.named_at(e_.depth(), "gate",
                                    fmt::format("kw_load({} + ({} * {} + {}) * kw_lanes)", sums, e_.name(n), gates_, gate),
                                    DType::f32, true));
      finish(t, n, j, gates);
      e_.close();
    };
    const VarId j = e_.variable("j", units_, true);
    e_.open(fmt::format("{2}for (std::int64_t {0} = 0; {0} < {1} - {1} % kw_lanes; {0} += kw_lanes) {{", e_.name(j), units_,
                        share ? "#pragma omp for schedule(static) nowait\n" : ""),
            {j});
    units(j);
    e_.close();
    if (units_ % kMostLanes != 0) {
      if (share) e_.open("#pragma omp single nowait\n{");
      units(e_.open_tail(units_));
      e_.close_tail();
      if (share) e_.close();
    }
    if (share) e_.line("#pragma omp barrier");
    e_.close();
  }

  StageWriter& w_;
  Emitter& e_;
  const Value& steps_;
  const Buffer& out_;
  std::int64_t length_;
  std::int64_t samples_;
  std::int64_t units_;
  std::int64_t gates_;
  bool has_cell_;
  std::string first_;
  std::string before_;
};

std::string recurrence_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::recurrence) return "no steps of a recurrent layer";
  return "";
}

void write_recurrence(StageWriter& writer, const Stage& stage) { RecurrenceText(writer, stage).write(); }

}  // namespace

const Family recurrence_family{"recurrence", recurrence_why_not, write_recurrence};

}  // namespace kw
