// Products and convolutions with weights that are parameters, as linear maps of their input: what scaling, summing and pooling of
// what they give makes of their weights. It adds values to a graph and decides nothing.
#pragma once

#include <optional>
#include <vector>

#include "playbook/value.h"

namespace kw {

struct LinearMap {
  ValueId value = -1;   // the product or convolution
  int channel = -1;     // its dimension of features, which the weights alone have
  std::size_t own = 1;  // the weights' place among the operands
  int weight_channel = -1;
  std::int64_t features = 0;
};

// Nothing: no product or convolution of float32 with weights of which `is_parameter` holds on one side only.
std::optional<LinearMap> linear_map(const Graph& graph, ValueId value, bool left_is_parameter, bool right_is_parameter);

// The weights with everything that is the same for all items of a batch said once; and such weights in a map of its own.
ValueId weights_of(Graph& graph, const LinearMap& map);
ValueId map_with(Graph& graph, const LinearMap& map, ValueId weights);

// A vector of one number for each feature, along a dimension of a shape.
ValueId along(Graph& graph, ValueId vector, int dim, const Shape& shape);

// The map followed by a sum over all of its features, or over windows of them: the weights of a product.
ValueId summed_weights(Graph& graph, const LinearMap& map, ValueId weights);
ValueId windowed_weights(Graph& graph, const LinearMap& map, ValueId weights, const WindowDim& window, std::int64_t outputs);

// What became of a convolution: a map in the same order of dimensions, those that were summed left out.
struct Shorter {
  ValueId value = -1;
  ValueId weights = -1;   // made of the convolution's
  double positions = 1;   // that each sum is over
  double operations = 0;  // multiplications, roughly
};

// The sum of what a convolution gives over some of its spatial dimensions (0: the first one behind the channels).
std::optional<Shorter> summed_convolution(Graph& graph, const LinearMap& map, const std::vector<bool>& summed);
// The sums of windows of what a convolution gives, `outputs` of them in each spatial dimension.
std::optional<Shorter> pooled_convolution(Graph& graph, const LinearMap& map, const std::vector<WindowDim>& pool,
                                          const Shape& outputs);
// Multiplications of a product or convolution as it is.
double operations_of(const Graph& graph, ValueId map);

}  // namespace kw
