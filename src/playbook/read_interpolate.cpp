// Interpolation: each output position along a dimension is a weighted sum of a few input positions, which are known beforehand.
#include <algorithm>
#include <cmath>

#include "playbook/read.h"

namespace kw {
namespace {

// What output positions along one dimension are made of: tap k of position o is weights[k][o] times the input at places[k][o].
struct Taps {
  std::vector<std::vector<double>> places;
  std::vector<std::vector<double>> weights;
};

struct Resize {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double factor = 0;  // that was asked for; 0: a size was
  bool corners = false;

  // Input positions from one output position to the next.
  [[nodiscard]] double step() const {
    if (corners) return to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
    return factor > 0 ? 1 / factor : static_cast<double>(from) / static_cast<double>(to);
  }
  [[nodiscard]] double source(std::int64_t position) const {
    const auto at = static_cast<double>(position);
    return corners ? at * step() : step() * (at + 0.5) - 0.5;
  }
  [[nodiscard]] double clamped(double place) const { return std::clamp(place, 0.0, static_cast<double>(from - 1)); }
};

// PyTorch rounds the step and the product to float32 here, for every type.
Taps nearest_taps(const Resize& resize, bool exact) {
  Taps taps{{{}}, {}};
  const auto step = static_cast<float>(resize.step());
  for (std::int64_t o = 0; o < resize.to; ++o) {
    const float place = (static_cast<float>(o) + (exact ? 0.5F : 0.0F)) * step;
    taps.places[0].push_back(resize.clamped(std::floor(place)));
  }
  return taps;
}

Taps linear_taps(const Resize& resize) {
  Taps taps{{{}, {}}, {{}, {}}};
  for (std::int64_t o = 0; o < resize.to; ++o) {
    const double source = std::max(resize.source(o), 0.0);
    const double low = resize.clamped(std::floor(source));
    const double share = std::min(source - low, 1.0);
    taps.places[0].push_back(low);
    taps.places[1].push_back(resize.clamped(low + 1));
    taps.weights[0].push_back(1 - share);
    taps.weights[1].push_back(share);
  }
  return taps;
}

// Keys' cubic with a = -3/4, at distances below 1 and below 2.
double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Taps cubic_taps(const Resize& resize) {
  Taps taps{std::vector<std::vector<double>>(4), std::vector<std::vector<double>>(4)};
  for (std::int64_t o = 0; o < resize.to; ++o) {
    const double source = resize.source(o);
    const double low = std::floor(source);
    for (int k = 0; k < 4; ++k) {
      const auto tap = static_cast<std::size_t>(k);
      taps.places[tap].push_back(resize.clamped(low + k - 1));
      taps.weights[tap].push_back(cubic_weight(source - (low + k - 1)));
    }
  }
  return taps;
}

// One number for each position along a dimension, for all positions of the others.
ValueId along(Graph& graph, const std::vector<double>& numbers, DType dtype, const Shape& shape, int dim) {
  Value table{.kind = ValueKind::table, .dtype = dtype, .shape = {static_cast<std::int64_t>(numbers.size())}};
  table.numbers = numbers;
  Shape own(shape.size(), 1);
  own[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(numbers.size());
  const ValueId value = numbers.size() == 1 ? graph.reshape(graph.constant(numbers[0], dtype), {1}) : graph.add(std::move(table));
  return graph.expand(graph.reshape(value, own), shape);
}

ValueId resampled(Graph& graph, ValueId x, int dim, const Taps& taps) {
  const DType dtype = graph.dtype(x);
  Shape shape = graph.shape(x);
  shape[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(taps.places[0].size());
  ValueId sum = -1;
  for (std::size_t k = 0; k < taps.places.size(); ++k) {
    ValueId term = graph.gather(x, along(graph, taps.places[k], DType::i64, shape, dim), dim);
    if (!taps.weights.empty()) term = graph.pointwise("mul", {term, along(graph, taps.weights[k], dtype, shape, dim)}, dtype);
    sum = sum < 0 ? term : graph.pointwise("add", {sum, term}, dtype);
  }
  return sum;
}

// Whole factors of the nearest neighbour repeat each element: a view.
ValueId repeated(Graph& graph, ValueId x, int dim, std::int64_t times) {
  Shape apart = graph.shape(x);
  Shape whole = apart;
  apart.insert(apart.begin() + dim + 1, times);
  whole[static_cast<std::size_t>(dim)] *= times;
  return graph.reshape(graph.expand(graph.unsqueeze(x, dim + 1), apart), whole);
}

// (input, output_size, [align_corners,] scale_factors): sizes are the result's, factors one for each dimension in space or none.
NodeValues read_resized(const NodeReader& node, const std::string& mode) {
  Graph& graph = node.graph;
  const bool nearest = mode == "nearest" || mode == "exact";
  const std::size_t at = nearest ? 2 : 3;
  ValueId x = node.tensor(0);
  const Shape from = graph.shape(x);
  const Shape to = node.shape();
  if (!is_floating(graph.dtype(x))) throw ReadError{"interpolation of whole numbers"};
  for (std::size_t d = 2; d < from.size(); ++d) {
    Resize resize{from[d], to[d], 0, !nearest && node.boolean(2)};
    if (!node.is_none(at)) {
      const Json& factor = node.argument(at).at("list").at(d - 2).at("const");
      resize.factor = factor.get<double>();
    }
    const int dim = static_cast<int>(d);
    const std::int64_t times = to[d] / from[d];
    const bool whole = to[d] % from[d] == 0 && resize.step() * static_cast<double>(times) == 1;
    if (from[d] == to[d] && (resize.step() == 1 || mode == "nearest")) continue;
    if (nearest && whole)
      x = repeated(graph, x, dim, to[d] / from[d]);
    else
      x = resampled(graph, x, dim,
                    nearest           ? nearest_taps(resize, mode == "exact")
                    : mode == "cubic" ? cubic_taps(resize)
                                      : linear_taps(resize));
  }
  return {x};
}

NodeValues read_nearest(const NodeReader& node) { return read_resized(node, "nearest"); }
NodeValues read_nearest_exact(const NodeReader& node) { return read_resized(node, "exact"); }
NodeValues read_linear_resize(const NodeReader& node) { return read_resized(node, "linear"); }
NodeValues read_cubic_resize(const NodeReader& node) { return read_resized(node, "cubic"); }

constexpr OpRow kInterpolateOps[] = {
    {"aten.upsample_nearest1d.vec", read_nearest},
    {"aten.upsample_nearest2d.vec", read_nearest},
    {"aten.upsample_nearest3d.vec", read_nearest},
    {"aten._upsample_nearest_exact1d.vec", read_nearest_exact},
    {"aten._upsample_nearest_exact2d.vec", read_nearest_exact},
    {"aten._upsample_nearest_exact3d.vec", read_nearest_exact},
    {"aten.upsample_linear1d.vec", read_linear_resize},
    {"aten.upsample_bilinear2d.vec", read_linear_resize},
    {"aten.upsample_trilinear3d.vec", read_linear_resize},
    {"aten.upsample_bicubic2d.vec", read_cubic_resize},
};

}  // namespace

std::span<const OpRow> interpolate_ops() { return kInterpolateOps; }

}  // namespace kw
