#include "playbook/stage.h"

#include <algorithm>

#include <fmt/format.h>

namespace kw {

StageWriter::StageWriter(const Graph& of_graph, const Plan& of_plan, const MachineFacts& of_machine,
                         std::set<std::string> strategies, std::set<std::string> reserved)
    : graph(of_graph),
      plan(of_plan),
      machine(of_machine),
      emitter(of_graph, std::move(reserved)),
      strategies_(std::move(strategies)) {
  emitter.lanes = std::max(1, machine.vector_bytes / 4);
  emitter.vector_maths = wants("vector_maths");
  emitter.reciprocals = wants("reciprocal_multiply");
  emitter.skip_idle_lanes = wants("skip_idle_lanes");
}

bool StageWriter::use(const std::string& strategy) {
  if (!wants(strategy)) return false;
  claims_.insert(strategy);
  return true;
}

std::string StageWriter::knob(const std::string& name, std::int64_t standard, const std::vector<std::int64_t>& values) {
  const auto known = std::ranges::find_if(knobs_, [&](const Knob& knob) { return knob.name == name; });
  if (known == knobs_.end()) knobs_.push_back({name, standard, values});
  return name;
}

void StageWriter::require(const std::string& condition) {
  if (std::ranges::find(constraints_, condition) == constraints_.end()) constraints_.push_back(condition);
}

std::string StageWriter::scratch(const std::string& hint, std::string_view type, const std::string& count, bool per_thread) {
  std::string name = emitter.unique(hint);
  named_scratch(name, type, count, per_thread);
  return name;
}

void StageWriter::named_scratch(const std::string& name, std::string_view type, const std::string& count, bool per_thread) {
  if (!per_thread && !work_end_.empty()) {
    declare(fmt::format("constexpr std::int64_t {}_at = ({} + 63) / 64 * 64;", name, work_end_));
    declare(fmt::format("static {0}* const {1} = reinterpret_cast<{0}*>(kw_work + {1}_at);", type, name));
    work_end_ = fmt::format("({}_at + static_cast<std::int64_t>(sizeof({})) * ({}))", name, type, count);
    return;
  }
  declare(fmt::format("alignas(64) static {}{} {}[{}];", per_thread ? "thread_local " : "", type, name, count));
}

void StageWriter::declare(const std::string& text) {
  if (std::ranges::find(declarations_, text) == declarations_.end()) declarations_.push_back(text);
}

std::string StageWriter::prepared(const std::string& hint, const std::string& count,
                                  const std::function<void(Emitter& emitter, const std::string& name)>& fill) {
  std::string name = emitter.unique(hint);
  std::set<std::string> reserved;
  for (ValueId id = 0; id < graph.size(); ++id)
    if (!graph.at(id).name.empty()) reserved.insert(graph.at(id).name);
  reserved.insert({name, "memory", "weights"});
  Emitter own(graph, reserved);
  own.vector_maths = emitter.vector_maths;
  for (const auto& [value, buffer] : prepared_values_) own.materialise(value, buffer);
  fill(own, name);
  for (const auto& piece : own.needed()) emitter.need(piece);
  for (const ValueId table : own.tables()) emitter.need_table(table);
  prepared_.push_back({name, count, own.take_text()});
  return name;
}

void StageWriter::prepare_value(ValueId value) {
  Buffer buffer = plan.buffers.at(value);
  buffer.output = false;
  buffer.name = prepared(buffer.name, fmt::format("{}", numel(buffer.shape)), [&](Emitter& to, const std::string& name) {
    Index index;
    for (const std::int64_t size : buffer.shape) index.push_back(size == 1 ? Affine(0) : Affine::variable(to.open_loop("i", size)));
    const std::string text = to.emit(value, index).text;
    to.line(fmt::format("{}[{}] = {};", name, to.text(to.flatten(index, buffer.shape)), text));
    for (const std::int64_t size : buffer.shape)
      if (size != 1) to.close();
  });
  prepared_values_[value] = buffer;
  emitter.materialise(value, buffer);
}

std::string StageWriter::parallel_pragma(std::int64_t iterations, std::int64_t elements, bool uneven) {
  constexpr std::int64_t kWorthThreads = 16384;
  if (iterations < 2 || elements < kWorthThreads || !use("parallel_outer")) return "";
  if (!uneven || !wants("balanced_schedule") || iterations < 4 * machine.threads)
    return "#pragma omp parallel for schedule(static)";
  use("balanced_schedule");
  knob("KW_CHUNK", 4, {1, 2, 4, 8, 16});
  // Fetching the next chunk costs as much as some hundred elements, and ends a stream of memory: short iterations go together.
  constexpr std::int64_t kFewestElements = 4096;
  const std::int64_t together = std::min(kFewestElements * iterations / elements, iterations / (16 * machine.threads));
  if (together < 2) return "#pragma omp parallel for schedule(dynamic, KW_CHUNK)";
  return fmt::format("#pragma omp parallel for schedule(dynamic, KW_CHUNK * {})", together);
}

bool StageWriter::attempt(const std::function<void()>& write) {
  const auto claims = claims_;
  const auto knobs = knobs_;
  const auto constraints = constraints_;
  const auto declarations = declarations_;
  const auto prepared = prepared_;
  const auto work_end = work_end_;
  if (emitter.attempt(write)) return true;
  claims_ = claims;
  knobs_ = knobs;
  constraints_ = constraints;
  declarations_ = declarations;
  prepared_ = prepared;
  work_end_ = work_end;
  return false;
}

std::span<const Family> families() {
  static const Family all[] = {attention_family,  product_family, convolution_family, window_family, scan_family, arg_family,
                               recurrence_family, whole_family,   columns_family,     rows_family,   flat_family, naive_family};
  return all;
}

}  // namespace kw
