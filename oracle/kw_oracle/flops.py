"""Floating-point operations of a graph: products and convolutions exactly, other operations by what their scalar maths
costs on a CPU without special units. An estimate for the roofline, never a claim."""

import math

import torch
from torch.utils.flop_counter import flop_registry

# Per output element.
_ELEMENTWISE = {
    **dict.fromkeys("""add sub rsub mul div neg abs relu maximum minimum floor ceil round trunc sign eq ne lt le gt ge where
        clamp clamp_min clamp_max hardtanh relu6 threshold leaky_relu prelu masked_fill square frac fmod remainder
        floor_divide logical_and logical_or logical_not bitwise_and bitwise_or bitwise_xor bitwise_not tril triu
        dist_mask reciprocal isnan isinf""".split(), 1),
    **dict.fromkeys("addcmul addcdiv lerp hardshrink softshrink".split(), 3),
    **dict.fromkeys("hardsigmoid hardswish softsign".split(), 4),
    **dict.fromkeys("sqrt rsqrt".split(), 4),
    **dict.fromkeys("exp exp2 expm1 log log2 log10 log1p sin cos".split(), 8),
    **dict.fromkeys("sigmoid silu elu celu selu log_sigmoid".split(), 10),
    **dict.fromkeys("tanh tan erf erfc atan atan2 asin acos sinh cosh pow".split(), 12),
    **dict.fromkeys("gelu softplus logaddexp logcumsumexp".split(), 16),
    **dict.fromkeys("mish".split(), 28),
}
# Per element of the first input.
_PER_INPUT = {
    **dict.fromkeys("""sum mean amax amin max min prod any all argmax argmin cumsum cumprod cummax cummin aminmax median
        nansum count_nonzero""".split(), 1),
    **dict.fromkeys("norm linalg_vector_norm mse_loss l1_loss".split(), 2),
    **dict.fromkeys("var std var_mean std_mean smooth_l1_loss huber_loss hinge_embedding_loss".split(), 4),
    **dict.fromkeys("softmax _softmax log_softmax _log_softmax logsumexp cross_entropy_loss kl_div".split(), 12),
    **dict.fromkeys("layer_norm native_layer_norm group_norm native_group_norm instance_norm rms_norm".split(), 8),
    **dict.fromkeys("batch_norm _native_batch_norm_legit_no_training native_batch_norm".split(), 2),
    **dict.fromkeys("cosine_similarity normalize".split(), 6),
    **dict.fromkeys("binary_cross_entropy binary_cross_entropy_with_logits".split(), 20),
    **dict.fromkeys("sort topk".split(), 1),
}
_MOVEMENT = set("""view reshape _unsafe_view permute transpose t mT contiguous clone expand expand_as squeeze unsqueeze flatten
    unflatten slice select narrow split split_with_sizes chunk unbind cat stack copy alias detach lift_fresh lift_fresh_copy
    to _to_copy type_as pad constant_pad_nd reflection_pad1d reflection_pad2d replication_pad2d flip roll gather scatter
    index index_select embedding repeat repeat_interleave zeros ones full empty arange zeros_like ones_like full_like
    empty_like new_zeros new_ones new_full scalar_tensor dropout feature_dropout unfold pixel_shuffle pixel_unshuffle
    channel_shuffle as_strided diagonal broadcast_tensors meshgrid one_hot masked_select movedim swapaxes getitem numpy_T
    slice_scatter select_scatter index_put tile fill diag_embed diag eye linspace atleast_1d""".split())


def _numel(shape) -> int:
    return math.prod(shape) if shape else 1


class _Node:
    """A call of the graph with the shapes of what it refers to."""

    def __init__(self, node: dict, shapes: dict):
        self.op = node["op"].split(".")[1]
        self.node = node
        self.out = node["shape"] if node["shape"] is not None else (node.get("results") or [{"shape": []}])[0]["shape"]
        self.args = [self.value(arg, shapes) for arg in node["args"]]
        self.kwargs = {key: self.value(arg, shapes) for key, arg in node["kwargs"].items()}
        self.tensors = [shape for shape in self.args if isinstance(shape, torch.Size)]

    def value(self, arg: dict, shapes: dict):
        if "ref" in arg:
            return torch.Size(shapes.get(arg["ref"]) or [])
        if "list" in arg:
            return [self.value(item, shapes) for item in arg["list"]]
        return arg.get("const")


def _linear(n: _Node) -> int:
    return 2 * _numel(n.out) * n.args[0][-1] + (_numel(n.out) if len(n.tensors) > 2 else 0)


def _matmul(n: _Node) -> int:
    return 2 * _numel(n.out) * n.args[0][-1]


def _convolution(n: _Node) -> int:
    bias = _numel(n.out) if len(n.tensors) > 2 else 0
    return 2 * _numel(n.out) * _numel(n.args[1][1:]) + bias


def _transposed_convolution(n: _Node) -> int:
    bias = _numel(n.out) if len(n.tensors) > 2 else 0
    return 2 * _numel(n.args[0]) * _numel(n.args[1][1:]) + bias


def _general_convolution(n: _Node) -> int:
    return _transposed_convolution(n) if n.args[6] else _convolution(n)


def _einsum(n: _Node) -> int:
    left = n.args[0].replace(" ", "").split("->")[0].split(",")
    extents = {}
    for labels, shape in zip(left, n.args[1]):
        if "." in labels:
            return 2 * _numel(n.out)
        extents.update(zip(labels, shape))
    return max(1, len(left)) * _numel(extents.values())


def _attention(n: _Node) -> int:
    query, key, value = n.args[:3]
    scores = _numel(query[:-1]) * key[-2]
    return scores * (2 * query[-1] + 2 * value[-1] + 12)


def _recurrent(n: _Node) -> int:
    """Gates of all steps: each weight matrix is applied once per step and row of the batch."""
    weights = next(arg for arg in n.args[1:] if isinstance(arg, list) and arg and len(arg) >= 2 and arg[0]
                   and isinstance(arg[0], torch.Size) and len(arg[0]) == 2)
    steps = _numel(n.args[0][:-1])
    return steps * sum(2 * _numel(shape) + (0 if len(shape) > 1 else shape[0]) for shape in weights)


def _pooling(n: _Node) -> int:
    window = n.args[1] if isinstance(n.args[1], list) else [n.args[1]]
    dims = int(n.op.rstrip("d_with_indices")[-1]) if n.op.rstrip("d_with_indices")[-1:].isdigit() else len(window)
    return _numel(n.out) * _numel(window if len(window) > 1 else window * dims)


def _adaptive_pooling(n: _Node) -> int:
    return _numel(n.args[0])


def _interpolation(n: _Node) -> int:
    return _numel(n.out) * (0 if "nearest" in n.op else 7)


_OWN = {
    "linear": _linear, "matmul": _matmul, "einsum": _einsum, "scaled_dot_product_attention": _attention,
    "mv": _matmul, "dot": _matmul, "vdot": _matmul, "inner": _matmul,
    "conv1d": _convolution, "conv2d": _convolution, "conv3d": _convolution,
    "conv_transpose1d": _transposed_convolution, "conv_transpose2d": _transposed_convolution,
    "conv_transpose3d": _transposed_convolution, "convolution": _general_convolution,
    "lstm": _recurrent, "gru": _recurrent, "rnn_tanh": _recurrent, "rnn_relu": _recurrent,
    **dict.fromkeys("""max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d max_pool2d_with_indices
        max_pool3d_with_indices max_pool1d_with_indices""".split(), _pooling),
    **dict.fromkeys("""adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d""".split(), _adaptive_pooling),
    **dict.fromkeys("upsample_nearest2d upsample_bilinear2d upsample_nearest1d upsample_linear1d".split(), _interpolation),
}


def _flops_of(n: _Node) -> float:
    if n.op in _OWN:
        return _OWN[n.op](n)
    packet = getattr(torch.ops.aten, n.op, None)
    if packet in flop_registry:
        return flop_registry[packet](*n.args, **n.kwargs, out_val=torch.Size(n.out)) + _added(n)
    if n.op in _PER_INPUT and n.tensors:
        return _PER_INPUT[n.op] * _numel(n.tensors[0])
    if n.op in _MOVEMENT:
        return 0
    if n.op == "pow" and n.args[1] in (2, 2.0):
        return _numel(n.out)
    return _ELEMENTWISE.get(n.op, 1) * _numel(n.out)


def _added(n: _Node) -> int:
    return _numel(n.out) if n.op in ("addmm", "baddbmm", "addmv", "addbmm") else 0


def count_flops(graph: dict | None) -> float | None:
    """None where there is no graph."""
    if graph is None:
        return None
    shapes, total = {}, 0.0
    for node in graph["nodes"]:
        shapes[node["name"]] = node["shape"]
        if node["kind"] == "call" and node["op"].startswith("aten."):
            total += _flops_of(_Node(node, shapes))
    return total
