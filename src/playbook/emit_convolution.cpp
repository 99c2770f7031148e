// One element of a convolution, wherever it is needed: loops over the channels of its group and the window.
#include <fmt/format.h>

#include "playbook/emit.h"

namespace kw {

Expr Emitter::emit_convolution(const Value& value, const Index& index) {
  if (varies(index)) set_trouble("a convolution for each lane");
  Expr result;
  at_depth(depth_of(index), [&] {
    const Shape& inputs = graph_.shape(value.operands[0]);
    const Shape& weights = graph_.shape(value.operands[1]);
    const DType acc_type = cuda && value.dtype != DType::f64 ? DType::f32 : DType::f64;
    const std::string acc = unique("sum");
    line(fmt::format("{} {} = {};", value_type(acc_type), acc, number_text(0, acc_type)));
    const VarId channel = summed(open_loop("c", weights[1]));
    int opened = 1;
    Index of_input{index[0], Affine::variable(channel)}, of_weight{index[1], Affine::variable(channel)};
    if (value.groups > 1)
      of_input[1] = of_input[1] + quotient(index[1], value.shape[1] / value.groups, {0, value.groups - 1}) * weights[1];
    for (std::size_t d = 2; d < inputs.size(); ++d) {
      const WindowDim& dim = value.window[d - 2];
      const VarId k = summed(open_loop("k", dim.size));
      ++opened;
      of_weight.push_back(Affine::variable(k));
      const Affine place = index[d] * dim.stride + Affine::variable(k) * dim.dilation - Affine(dim.before);
      const Range range = range_of(place, ranges());
      if (dim.up == 1 && range.low >= 0 && range.high < inputs[d]) {
        of_input.push_back(place);
        continue;
      }
      const std::string from = unique("from");
      line(fmt::format("const {} {} = {};", index_type, from, text(place)));
      line(fmt::format("if ({0} < 0 || {0} >= {1}{2}) continue;", from, inputs[d] * dim.up,
                       dim.up == 1 ? "" : fmt::format(" || {} % {} != 0", from, dim.up)));
      const std::string at = dim.up == 1 ? from : fmt::format("{} / {}", from, dim.up);
      of_input.push_back(Affine::variable(define("at", at, {0, inputs[d] - 1})));
    }
    const Expr left = emit(value.operands[0], of_input);
    const Expr right = emit(value.operands[1], of_weight);
    const bool cast = acc_type == DType::f64 && value.dtype != DType::f64;
    line(fmt::format("{} += {} * {};", acc, cast ? "double(" + left.text + ")" : left.text, right.text));
    for (int i = 0; i < opened; ++i) close();
    result = converted({acc, acc_type, false}, value.dtype);
  });
  result.depth = depth_of(index);
  return result;
}

}  // namespace kw
