#include "strategy/condition.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/expression.h"

namespace kw {

std::span<const FeatureName> feature_names() {
  static constexpr FeatureName kNames[] = {
      {"threads", "that the kernel may use"},
      {"vector_lanes", "float32 numbers in a vector register"},
      {"l1_bytes", "of the first cache of a core"},
      {"l2_bytes", "of the second cache of a core"},
      {"l3_bytes", "of the last cache, all that is shared"},
      {"input_bytes", "of inputs and weights"},
      {"output_bytes", "of outputs"},
      {"total_bytes", "inputs, weights and outputs, each once"},
      {"flops", "of a call"},
      {"pointwise_ops", "pointwise operations in the graph"},
      {"transcendental_ops", "of these: exp, log, tanh, erf, ..."},
      {"one_sided_ops", "of these: those that count for negative arguments alone, as in an ELU"},
      {"has_rows", "1: something is reduced over innermost dimensions"},
      {"row_count", "rows that are reduced"},
      {"row_elements", "elements of such a row"},
      {"has_columns", "1: something is reduced over a dimension that is not innermost"},
      {"column_count", "columns that are reduced"},
      {"column_depth", "elements of such a column"},
      {"has_whole", "1: something is reduced to a single number"},
      {"whole_elements", "elements of such a reduction"},
      {"reductions", "in the graph"},
      {"has_attention", "1: a softmax of scores that are a product, times values, and the scores are read by nothing else"},
      {"has_softmax", "1: a softmax, log-softmax or log-sum-exp"},
      {"has_moments", "1: a mean and a variance of the same numbers"},
      {"has_scan", "1: a cumulative sum, product, ..."},
      {"scan_length", "elements of a scan"},
      {"scan_rows", "independent scans"},
      {"has_window", "1: pooling"},
      {"has_gather", "1: elements or rows are picked by indices"},
      {"window_elements", "elements of a window"},
      {"has_arg", "1: argmax or argmin"},
      {"has_product", "1: a matrix product or what can be read as one"},
      {"product_m", "rows of the largest product's result"},
      {"product_n", "columns of the largest product's result"},
      {"product_k", "its summed dimension"},
      {"product_batch", "its independent products"},
      {"is_matvec", "1: one side of the largest product is a vector"},
      {"has_matvec", "1: one side of some product is a vector"},
      {"is_triangular", "1: a factor is triangular"},
      {"is_diagonal", "1: a factor is diagonal"},
      {"has_convolution", "1: a convolution that is no product"},
      {"has_3x3_convolution",
       "1: a convolution over 8 channels or more has a window of 3 by 3 in the last two dimensions, no stride and no dilation"},
      {"convolution_products", "multiplications of the largest convolution"},
      {"convolution_inputs", "its channels that are summed, of a group"},
      {"convolution_features", "its channels that come out, of a group"},
      {"convolution_taps", "elements of its window"},
      {"convolution_pixels", "of a channel that comes out"},
      {"convolution_stride", "its greatest stride"},
      {"is_transposed_convolution", "1: it is transposed, with a stride"},
      {"is_depthwise", "1: each channel has windows of its own"},
      {"convolution_prologue_ops", "pointwise operations on a convolution's input"},
      {"weights_in_convolution", "1: its weights are parameters"},
      {"product_epilogue_ops", "pointwise operations on a product's or convolution's result"},
      {"product_prologue_ops", "pointwise operations on a product's operands"},
      {"weights_in_product", "1: a factor is a parameter"},
      {"foldable_scales", "1: scales or shifts behind a linear map could be in its weights"},
      {"sums_of_linear", "1: what a linear map gives is summed"},
      {"pools_of_linear", "1: what a convolution gives is pooled to means"},
      {"uneven_work", "1: iterations of the outer loop differ in work"},
      {"sms", "of the GPU; 0: it is none"},
      {"compute_capability", "of the GPU, as in 80"},
      {"shared_bytes", "of shared memory that a block may have"},
      {"is_float", "1: an output is float32"},
      {"is_half", "1: an output is float16 or bfloat16"},
      {"allows_tf32", "1: the contract lets products round their factors"},
      {"output_elements", "of the largest output"},
      {"stages", "loop nests that the kernel consists of"},
  };
  return kNames;
}

Status check_condition(const std::string& condition) {
  KW_TRY(const Expression parsed, Expression::parse(condition));
  const auto known = feature_names();
  for (const std::string& name : parsed.names())
    if (std::none_of(known.begin(), known.end(), [&](const FeatureName& feature) { return feature.name == name; }))
      return bad_input(fmt::format("condition '{}': there is no feature '{}'", condition, name),
                       "use one of the table in src/strategy/condition.cpp, or add a row there");
  if (parsed.names().empty())
    return bad_input(fmt::format("condition '{}' speaks of no feature", condition), "compare a feature with something");
  return {};
}

bool conditions_hold(const std::vector<std::string>& conditions, const Features& features) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const std::string& condition) {
    const auto parsed = Expression::parse(condition);
    if (!parsed) return false;
    const auto held = parsed->holds(features, UnknownName::is_zero);
    return held.ok() && *held;
  });
}

}  // namespace kw
