#include "problem/workload.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

struct ClassRow {
  std::string_view name;
  std::vector<std::string_view> ops;  // without the prefix "aten." and the overload; a trailing * matches any rest
};

// Heaviest first: the first class of the table that a graph contains is its main one.
const std::array<ClassRow, 14>& classes() {
  static const std::array<ClassRow, 14> table{{
      {"attention", {"scaled_dot_product_attention", "_scaled_dot_product*", "multi_head_attention*"}},
      {"recurrent", {"lstm*", "gru*", "rnn_*", "_thnn_fused*"}},
      {"convolution", {"conv*", "_convolution", "conv_transpose*"}},
      {"matmul",
       {"mm", "bmm", "addmm", "baddbmm", "addbmm", "matmul", "linear", "einsum", "mv", "addmv", "dot", "vdot", "inner", "outer",
        "bilinear", "tensordot", "linalg_multi_dot"}},
      {"scan", {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"}},
      {"loss",
       {"*_loss", "nll_loss*", "cross_entropy_loss", "cosine_embedding_loss", "kl_div", "binary_cross_entropy*", "ctc_loss*",
        "cdist*"}},
      {"softmax", {"softmax", "_softmax", "log_softmax", "_log_softmax", "logsumexp"}},
      {"normalisation",
       {"batch_norm", "_native_batch_norm*", "native_batch_norm*", "layer_norm", "native_layer_norm", "group_norm",
        "native_group_norm", "instance_norm", "rms_norm", "_fused_rms_norm", "cudnn_batch_norm", "local_response_norm", "renorm"}},
      {"pooling", {"max_pool*", "avg_pool*", "adaptive_*", "_adaptive_*", "lp_pool*", "fractional_max_pool*"}},
      {"argument reduction", {"argmax", "argmin", "topk", "sort", "argsort", "kthvalue", "median", "mode"}},
      {"reduction",
       {"sum", "mean", "prod", "amax", "amin", "max", "min", "norm", "linalg_vector_norm", "linalg_norm", "linalg_matrix_norm",
        "var*", "std*", "any", "all", "aminmax", "nansum", "frobenius_norm", "count_nonzero"}},
      {"gather",
       {"embedding*", "gather", "index_select", "index", "scatter*", "index_put*", "index_add", "take*", "grid_sampler*"}},
      {"interpolation", {"upsample_*", "interpolate*"}},
      {"movement",
       {"view",
        "reshape",
        "permute",
        "transpose",
        "t",
        "expand*",
        "clone",
        "contiguous",
        "slice",
        "select",
        "cat",
        "stack",
        "unsqueeze",
        "squeeze",
        "flatten",
        "unflatten",
        "pad",
        "constant_pad_nd",
        "flip",
        "roll",
        "split*",
        "chunk",
        "repeat*",
        "_to_copy",
        "to",
        "copy",
        "detach*",
        "alias",
        "unbind",
        "diag*",
        "tril",
        "triu",
        "movedim",
        "narrow",
        "pixel_shuffle",
        "channel_shuffle",
        "full*",
        "arange",
        "zeros*",
        "ones*",
        "empty*",
        "scalar_tensor",
        "lift_fresh_copy",
        "dropout",
        "unfold",
        "im2col",
        "as_strided"}},
  }};
  return table;
}

bool matches(std::string_view op, std::string_view rule) {
  if (rule.front() == '*') return op.size() >= rule.size() - 1 && op.substr(op.size() - rule.size() + 1) == rule.substr(1);
  if (rule.back() == '*') return op.substr(0, rule.size() - 1) == rule.substr(0, rule.size() - 1);
  return op == rule;
}

// max and min of two tensors are pointwise; of one tensor they reduce.
bool is_binary_extreme(std::string_view op, std::string_view overload) {
  return (op == "max" || op == "min") && overload == "other";
}

constexpr std::size_t kPointwise = 100;

std::size_t class_of(const std::string& full) {
  if (full.rfind("aten.", 0) != 0) return 13;  // getitem and the like move nothing
  const std::size_t dot = full.find('.', 5);
  const std::string_view op = std::string_view(full).substr(5, dot == std::string::npos ? dot : dot - 5);
  const std::string_view overload = dot == std::string::npos ? "" : std::string_view(full).substr(dot + 1);
  if (is_binary_extreme(op, overload)) return kPointwise;
  for (std::size_t i = 0; i < classes().size(); ++i)
    for (const auto rule : classes()[i].ops)
      if (matches(op, rule)) return i;
  return kPointwise;
}

std::string_view name_of_class(std::size_t index) { return index == kPointwise ? "pointwise" : classes()[index].name; }

// Pointwise work outranks mere movement, and nothing else.
std::size_t rank(std::size_t index) { return index == kPointwise ? 12 : index >= 12 ? index + 1 : index; }

}  // namespace

std::string WorkloadClass::text() const { return also.empty() ? main : fmt::format("{} + {}", main, fmt::join(also, " + ")); }

WorkloadClass workload_class(const ProblemDescription& problem) {
  if (!problem.graph.is_object() || !problem.graph.contains("nodes")) return {"unknown", {}};
  std::vector<std::size_t> seen;
  for (const auto& node : problem.graph["nodes"]) {
    if (!node.is_object() || node.value("kind", "") != "call") continue;
    const std::size_t index = class_of(node.value("op", ""));
    if (std::find(seen.begin(), seen.end(), index) == seen.end()) seen.push_back(index);
  }
  if (seen.empty()) return {"movement", {}};
  const std::size_t main = *std::min_element(seen.begin(), seen.end(), [](auto a, auto b) { return rank(a) < rank(b); });
  WorkloadClass result{std::string(name_of_class(main)), {}};
  for (const auto index : seen)
    if (index != main && name_of_class(index) != "movement") result.also.emplace_back(name_of_class(index));
  return result;
}

}  // namespace kw
