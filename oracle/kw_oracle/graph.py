"""The module's ATen graph as JSON, from torch.export: every operation with all its arguments, shapes and dtypes. Nothing
is decomposed or simplified beyond making in-place operations functional and what is asked for by name."""

import contextlib
import math

import torch

from kw_oracle.errors import one_line
from kw_oracle.subject import Subject
from kw_oracle.tensors import Arguments, copy_of

_MOST_INLINE = 4096


class GraphError(Exception):
    """Why there is no graph, in a sentence."""


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _argument(value) -> dict:
    if isinstance(value, torch.fx.Node):
        return {"ref": value.name}
    if isinstance(value, (list, tuple)):
        return {"list": [_argument(item) for item in value]}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"const": value}
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return {"const": str(value).removeprefix("torch.")}
    raise GraphError(f"an argument is a {type(value).__name__}, which the graph cannot hold")


def _full_arguments(node: torch.fx.Node) -> tuple[list, dict]:
    """Arguments in the order of the operation's schema, defaults included, and the keyword-only ones by name."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return [_argument(arg) for arg in node.args], {key: _argument(arg) for key, arg in node.kwargs.items()}
    args, kwargs = [], {}
    for index, declared in enumerate(schema.arguments):
        if index < len(node.args):
            value = node.args[index]
        elif declared.name in node.kwargs:
            value = node.kwargs[declared.name]
        else:
            value = declared.default_value
            if value is not None and str(declared.type) == "Optional[ScalarType]" and isinstance(value, int):
                value = None
        if declared.kwarg_only:
            kwargs[declared.name] = _argument(value)
        else:
            args.append(_argument(value))
    return args, kwargs


def _shape_and_dtype(value) -> tuple[list | None, str | None]:
    if isinstance(value, torch.Tensor):
        if not all(isinstance(extent, int) for extent in value.shape):
            raise GraphError("a shape depends on the values of the inputs")
        return list(value.shape), dtype_name(value.dtype)
    if isinstance(value, bool):
        return [], "bool"
    if isinstance(value, (int, float)):
        return [], "int64" if isinstance(value, int) else "float64"
    if value is None:
        return None, None
    raise GraphError("a value of the graph depends on the data")


def _call(node: torch.fx.Node) -> dict:
    args, kwargs = _full_arguments(node)
    described = {"name": node.name, "op": _operation(node), "args": args, "kwargs": kwargs, "shape": None, "dtype": None,
                 "kind": "call"}
    value = node.meta.get("val")
    if isinstance(value, (list, tuple)):
        described["results"] = [dict(zip(("shape", "dtype"), _shape_and_dtype(item))) for item in value]
    else:
        described["shape"], described["dtype"] = _shape_and_dtype(value)
    return described


def _operation(node: torch.fx.Node) -> str:
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target)
    if getattr(node.target, "__name__", "") == "getitem":
        return "operator.getitem"
    raise GraphError(f"it uses '{getattr(node.target, '__name__', node.target)}', which is not an ATen operation")


def _constant(node: torch.fx.Node, tensor: torch.Tensor) -> dict:
    if tensor.numel() > _MOST_INLINE:
        raise GraphError(f"forward() makes a constant of {tensor.numel()} elements; make it a buffer instead")
    values = [_argument(value) for value in tensor.reshape(-1).tolist()]
    return {"name": node.name, "op": "constant", "args": [], "kwargs": {}, "shape": list(tensor.shape),
            "dtype": dtype_name(tensor.dtype), "kind": "constant", "values": values}


def _is_plain(program) -> bool:
    """Only ATen calls without side effects."""
    for node in program.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
            if node.target._schema.is_mutable:
                return False
        elif node.op == "call_function" and isinstance(node.target, torch._ops.HigherOrderOperator):
            return False
    return True


@contextlib.contextmanager
def _attributes_as_buffers(subject: Subject):
    """Tensors that are plain attributes are buffers meanwhile: of these, torch.export follows what forward() writes into them."""
    plain = [entry for entry in subject.entries if entry.item is None and isinstance(vars(entry.owner).get(entry.key), torch.Tensor)]
    held = [(entry.owner, entry.key, vars(entry.owner).pop(entry.key)) for entry in plain]
    for owner, key, tensor in held:
        owner.register_buffer(key, copy_of(tensor), persistent=False)
    try:
        yield
    finally:
        for owner, key, tensor in held:
            delattr(owner, key)
            vars(owner)[key] = tensor


def _decompositions(names: frozenset[str]) -> dict:
    """PyTorch's own rules for these operations; those that it has no rule for are left out."""
    rules = {}
    for table in (torch._decomp.decomposition_table, torch.export.default_decompositions()):
        rules.update({operation: table[operation] for operation in table if str(operation) in names})
    return rules


def _exported(subject: Subject, inputs: Arguments, apart: frozenset[str]):
    """The exported program; forward()'s own arguments stay as they are."""
    def program():
        copies = inputs.mapped(copy_of)
        exported = torch.export.export(subject.model, tuple(copies.call()), strict=False)
        return exported if _is_plain(exported) and not apart else exported.run_decompositions(_decompositions(apart))

    try:
        return program()
    except RuntimeError as error:
        if "mutated in the forward" not in str(error):
            raise
    with _attributes_as_buffers(subject):
        return program()


def _state_name(subject: Subject, program, spec) -> str | None:
    """The name in our list of parameters for a tensor that the program takes beside the inputs."""
    names = {entry.name: entry.get() for entry in subject.entries}
    if spec.target in names:
        return spec.target
    held = program.constants.get(spec.target, program.state_dict.get(spec.target))
    if isinstance(held, torch.Tensor) and held.numel():
        for name, tensor in names.items():
            if tensor.data_ptr() == held.data_ptr() and tensor.shape == held.shape and tensor.stride() == held.stride():
                return name
    return None


def _placeholder(node, spec, user_name, subject: Subject, program) -> dict | None:
    if spec.kind is torch.export.graph_signature.InputKind.USER_INPUT:
        if not isinstance(node.meta.get("val"), torch.Tensor):
            return None  # a number: its uses are in the graph as constants
        name = user_name
    else:
        name = _state_name(subject, program, spec)
        if name is None:
            held = program.constants.get(spec.target)
            if not isinstance(held, torch.Tensor):
                raise GraphError(f"it takes '{spec.target}', which is no tensor")
            return _constant(node, held)
    shape, dtype = _shape_and_dtype(node.meta["val"])
    return {"name": node.name, "op": "placeholder", "args": [], "kwargs": {}, "shape": shape, "dtype": dtype,
            "kind": "placeholder", "tensor": name}


def _to_json(subject: Subject, inputs: Arguments, program) -> dict:
    signature = program.graph_signature
    specs = {spec.arg.name: spec for spec in signature.input_specs}
    user_names = iter(inputs.names)
    nodes, outputs = [], []
    for node in program.graph.nodes:
        if node.op == "placeholder":
            spec = specs[node.name]
            user = spec.kind is torch.export.graph_signature.InputKind.USER_INPUT
            described = _placeholder(node, spec, next(user_names) if user else None, subject, program)
            if described:
                nodes.append(described)
        elif node.op == "call_function":
            if not node.users and node.meta.get("val") is None:
                continue  # an assertion about shapes or types
            nodes.append(_call(node))
        elif node.op == "output":
            wanted = torch.export.graph_signature.OutputKind.USER_OUTPUT
            outputs = [spec.arg.name for spec in signature.output_specs
                       if spec.kind is wanted and getattr(spec.arg, "name", None) is not None
                       and not isinstance(spec.arg, torch.export.graph_signature.ConstantArgument)]
        else:
            raise GraphError(f"it contains a '{node.op}' that is not an ATen operation")
    return {"nodes": nodes, "outputs": outputs}


def _link_scalars(graph: dict, other: dict, first: dict, second: dict) -> dict:
    """Where two graphs, exported with other numbers among the inputs, differ: uses of those numbers, by name."""
    def linked(a, b):
        if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
            if a != b and a.keys() == {"const"}:
                for name in first:
                    if a["const"] == first[name] and b["const"] == second[name]:
                        return {"scalar": name}
            return {key: linked(a[key], b[key]) for key in a}
        if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            return [linked(x, y) for x, y in zip(a, b)]
        if a != b:
            raise GraphError("forward() computes with a number among its inputs outside of PyTorch")
        return a

    return linked(graph, other)


def export_graph(subject: Subject, inputs: Arguments, apart: frozenset[str] = frozenset()) -> tuple[dict | None, str]:
    """The graph, or None and why there is none. Operations in `apart` are taken apart where PyTorch has a rule for them."""
    try:
        graph = _to_json(subject, inputs, _exported(subject, inputs, apart))
        numbers = {name: value for name, value in inputs.scalars().items() if isinstance(value, float)}
        if numbers:
            others = {name: value * 1.25 + 0.0625 * (i + 1) for i, (name, value) in enumerate(numbers.items())}
            changed = inputs.with_values(others)
            graph = _link_scalars(graph, _to_json(subject, changed, _exported(subject, changed, apart)), numbers, others)
        return graph, ""
    except GraphError as error:
        return None, f"the module has no plain ATen graph: {error}"
    except Exception as error:  # noqa: BLE001: torch.export raises many types
        if "DataDependent" in type(error).__name__ or "data-dependent" in str(error):
            return None, "the module has no plain ATen graph: forward() branches on, or takes shapes from, its inputs' values"
        return None, f"torch.export failed: {type(error).__name__}: {one_line(error, 240)}"
