#include "playbook/convolution.h"

#include <algorithm>
#include <numeric>

#include "playbook/narrow_weights.h"

namespace kw {
namespace {

// `apart`: every input has a slot of its own.
ConvolutionDim dim_of(const WindowDim& window, std::int64_t inputs, std::int64_t outputs, bool apart) {
  ConvolutionDim dim;
  dim.inputs = inputs;
  dim.outputs = outputs;
  dim.stride = window.stride;
  dim.up = window.up;
  dim.positions = (outputs + dim.up - 1) / dim.up;
  dim.taps.clear();
  // Output q * up + phase reads position q * stride + first, in elements of the input, where (phase + place) is a multiple of `up`.
  std::vector<std::int64_t> first;
  for (std::int64_t k = 0; k < window.size; ++k) {
    const std::int64_t place = k * window.dilation - window.before;
    const std::int64_t phase = ((-place) % dim.up + dim.up) % dim.up;
    dim.taps.push_back({.phase = phase});
    first.push_back((place + phase) / dim.up);
  }
  const std::int64_t least = *std::ranges::min_element(first);
  dim.slots.clear();
  for (std::size_t k = 0; k < first.size(); ++k) {
    dim.taps[k].shift = apart ? 0 : (first[k] - least) / dim.stride;
    const std::int64_t own = first[k] - dim.taps[k].shift * dim.stride;
    const auto found = std::ranges::find(dim.slots, own);
    dim.taps[k].slot = found - dim.slots.begin();
    if (found == dim.slots.end()) dim.slots.push_back(own);
    dim.reach = std::max(dim.reach, dim.taps[k].shift);
  }
  return dim;
}

}  // namespace

std::vector<const ConvolutionDim*> ConvolutionFacts::dims() const {
  std::vector<const ConvolutionDim*> all;
  for (const auto& dim : outer) all.push_back(&dim);
  if (rank > 1) all.push_back(&row);
  all.push_back(&column);
  return all;
}

std::int64_t ConvolutionFacts::phases() const {
  std::int64_t count = 1;
  for (const auto* dim : dims()) count *= dim->up;
  return count;
}

std::vector<WindowTap> ConvolutionFacts::taps() const {
  std::vector<WindowTap> all{WindowTap{}};
  for (const auto* dim : dims()) {
    std::vector<WindowTap> next;
    for (const auto& tap : all)
      for (std::size_t k = 0; k < dim->taps.size(); ++k) {
        WindowTap longer = tap;
        longer.phase = tap.phase * dim->up + dim->taps[k].phase;
        longer.at.push_back(static_cast<std::int64_t>(k));
        next.push_back(std::move(longer));
      }
    all = std::move(next);
  }
  std::ranges::stable_sort(all, {}, &WindowTap::phase);
  return all;
}

bool ConvolutionDim::stays_inside() const {
  const auto [low, high] = std::ranges::minmax(slots);
  return low >= 0 && (positions - 1) * stride + high < inputs;
}

ConvolutionDim::Span ConvolutionDim::inside(const ConvolutionTap& tap) const {
  const std::int64_t first = slots[static_cast<std::size_t>(tap.slot)];
  const std::int64_t begin = std::clamp<std::int64_t>(divided_up(-first, stride) - tap.shift, 0, positions);
  const std::int64_t end = divided_down(inputs - 1 - first, stride) + 1 - tap.shift;
  return {begin, std::clamp(end, begin, positions)};
}

std::int64_t ConvolutionFacts::slots() const {
  std::size_t count = row.slots.size() * column.slots.size();
  for (const auto& dim : outer) count *= dim.slots.size();
  return static_cast<std::int64_t>(count);
}

std::int64_t ConvolutionFacts::images() const {
  std::int64_t count = batches * groups;
  for (const auto& dim : outer) count *= dim.positions;
  return count;
}

double ConvolutionFacts::multiplications() const {
  double count = static_cast<double>(batches * groups) * static_cast<double>(channels * features);
  for (const auto* dim : dims()) count *= static_cast<double>(dim->positions) * static_cast<double>(dim->taps.size());
  return count;
}

ConvolutionFacts convolution_facts(const Graph& graph, ValueId convolution) {
  const Value& value = graph.at(convolution);
  ConvolutionFacts facts;
  facts.value = convolution;
  facts.input = value.operands[0];
  facts.weight = value.operands[1];
  const Shape& inputs = graph.shape(facts.input);
  facts.batches = inputs[0];
  facts.groups = value.groups;
  facts.channels = graph.shape(facts.weight)[1];
  facts.features = value.shape[1] / value.groups;
  facts.rank = value.window.size();
  for (std::size_t d = 0; d < facts.rank; ++d) {
    const std::size_t behind = facts.rank - 1 - d;
    ConvolutionDim dim = dim_of(value.window[d], inputs[d + 2], value.shape[d + 2], behind > 1);
    if (behind > 1) {
      facts.outer.push_back(std::move(dim));
    } else {
      (behind == 1 ? facts.row : facts.column) = std::move(dim);
    }
  }
  return facts;
}

bool convolution_weights_known(const StageWriter& writer, const ConvolutionFacts& facts) {
  const bool own_stage = writer.emitter.buffer_of(facts.weight) != nullptr && !writer.plan.prepared.contains(facts.weight);
  return writer.plan.from_parameters.contains(facts.weight) && !own_stage && !lies_narrow(writer.graph, facts.weight);
}

}  // namespace kw
