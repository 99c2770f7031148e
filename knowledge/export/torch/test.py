"""The package against the original module in float64: with the tolerance of the contract that its kernel was verified with, and in the ways that
it is used."""

import copy
import json
import pathlib
import threading
import warnings

import pytest
import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import @name@
from @name@ import KernelNotUsed, Model, original

EVIDENCE = json.loads(pathlib.Path(@name@.__file__).with_name("evidence.json").read_text(encoding="utf-8"))
PRECISION = EVIDENCE["precision"]
STATED_EPSILON = {"float32": 0.0, "tf32": 2**-10, "fp16": 2**-10, "bf16": 2**-7}[PRECISION]
LOWER = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(PRECISION)

pytestmark = pytest.mark.skipif(@name@.OPERATOR is None, reason=str(@name@.UNAVAILABLE))


class Retyped(TorchDispatchMode):
    """Replaces the types that forward() names itself, such as x.float()."""

    def __init__(self, types):
        super().__init__()
        self.types = types

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        def change(value):
            return self.types.get(value, value) if isinstance(value, torch.dtype) else value

        return func(*map(change, args), **{name: change(value) for name, value in (kwargs or {}).items()})


def made(seed, kind=Model):
    """A module with random weights, scales and biases too, and inputs for it."""
    torch.manual_seed(seed)
    module = kind(*original.get_init_inputs()).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * (parameter.std(unbiased=False) + 0.1) * torch.randn_like(parameter))
    return module, original.get_inputs()


def plain(module):
    """The original with the same weights."""
    other = original.Model(*original.get_init_inputs()).eval()
    other.load_state_dict(module.state_dict())
    return other


def converted(module, inputs, change):
    module = copy.deepcopy(module)
    with torch.no_grad():
        for tensor in [*module.parameters(), *module.buffers()]:
            tensor.data = change(tensor.data)
    return module, pytree.tree_map_only(torch.Tensor, change, inputs)


def run(module, inputs):
    with torch.no_grad():
        return pytree.tree_leaves(module(*copy.deepcopy(inputs)))


def reference(module, inputs):
    def double(tensor):
        return tensor.double() if tensor.is_floating_point() else tensor

    with Retyped({torch.float32: torch.float64}):
        return run(*converted(module, inputs, double))


def rounded_to_tf32(tensor):
    if tensor.dtype is not torch.float32:
        return tensor
    bits = tensor.contiguous().view(torch.int32)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)


def eager(module, inputs):
    """The original's own outputs in the stated precision: what they are off by is the noise floor."""
    if PRECISION == "tf32":
        module, inputs = converted(module, inputs, rounded_to_tf32)
    elif LOWER is not None:
        module, inputs = converted(module, inputs, lambda t: t.to(LOWER) if t.is_floating_point() else t)
    return run(module, inputs)


def tolerance(expected, noisy):
    """Eight times the noise around an element, or room for sums in another order; less where the output hardly varies."""
    epsilon = max(torch.finfo(torch.float32).eps, STATED_EPSILON)
    rows = expected.reshape(-1, expected.shape[-1] if expected.dim() else 1)
    noise = (noisy.double().reshape(rows.shape) - rows).abs()
    largest = rows.abs().amax(1, keepdim=True)
    typical = (noise.amax(1, keepdim=True) / largest.clamp_min(1e-300)).median()
    floor = torch.maximum(noise.amax(1, keepdim=True), typical * largest)
    rms = rows.square().mean(1, keepdim=True).sqrt()
    rounding = 64 * epsilon * torch.maximum(rows.abs(), rms)
    variation = torch.maximum(0.02 * rows.std(unbiased=False), 8 * epsilon * rows.abs())
    return (torch.maximum(8 * floor, torch.minimum(rounding, variation)) + 1e-37).reshape(expected.shape)


def assert_right(results, module, inputs):
    results, original_module = pytree.tree_leaves(results), plain(module)
    for got, expected, noisy in zip(results, reference(original_module, inputs), eager(original_module, inputs), strict=True):
        assert got.shape == expected.shape
        if not got.is_floating_point():
            assert torch.equal(got, expected)
            continue
        finite = expected.isfinite()
        assert torch.equal(got.isfinite(), finite)
        off = (got.double() - expected).abs().where(finite, 0)
        share = off / tolerance(expected.nan_to_num(), noisy.nan_to_num())
        assert share.max() <= 1, f"{float(share.max()):.3g} times the tolerance, {int((share > 1).sum())} elements"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_right(seed):
    module, inputs = made(seed)
    with torch.no_grad():
        assert module.why_not(*inputs) is None
        results = module(*copy.deepcopy(inputs))
    assert_right(results, module, inputs)
    assert pytree.tree_structure(results) == pytree.tree_structure(plain(module)(*inputs))


def test_the_operator_keeps_pytorchs_rules():
    module, inputs = made(4)
    arguments = [*module._leaves(tuple(inputs), {}), *[weight.detach() for weight in module._weights()]]
    torch.library.opcheck(@name@.OPERATOR, tuple(arguments), test_utils=("test_schema", "test_faketensor", "test_autograd_registration"))


def test_a_state_dict_goes_both_ways():
    module, inputs = made(5)
    other, _ = made(6, original.Model)
    assert module.state_dict().keys() == other.state_dict().keys()
    module.load_state_dict(other.state_dict())
    with torch.no_grad():
        assert_right(module(*inputs), module, inputs)
    other.load_state_dict(module.state_dict())


def test_changed_weights_count_from_the_next_call_on():
    module, inputs = made(7)
    if not list(module.parameters()):
        pytest.skip("it has no weights")
    with torch.no_grad():
        module(*inputs)
        for parameter in module.parameters():
            parameter.mul_(1.25)
        assert_right(module(*inputs), module, inputs)
        module.load_state_dict(made(8)[0].state_dict())
        assert_right(module(*inputs), module, inputs)


def test_weights_and_inputs_may_lie_anywhere():
    def moved(tensor):
        memory = torch.empty(tensor.numel() + 1, dtype=tensor.dtype)[1:].view(tensor.shape)
        return memory.copy_(tensor)

    module, inputs = made(9)
    if any(not t.is_contiguous() for t in pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor)):
        pytest.skip("inputs with strides of their own")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.data = moved(parameter.data)
        inputs = pytree.tree_map_only(torch.Tensor, moved, inputs)
        assert module.why_not(*inputs) is None
        assert_right(module(*inputs), module, inputs)


def test_what_the_kernel_is_not_for_is_the_originals():
    module, inputs = made(10)
    first = next(t for t in pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor))
    with torch.no_grad():
        doubled = converted(module, inputs, lambda t: t.double() if t.is_floating_point() else t)
        if first.is_floating_point():
            assert "float64" in doubled[0].why_not(*doubled[1])
            got, expected = run(*doubled), run(*converted(plain(module), inputs, lambda t: t.double() if t.is_floating_point() else t))
            assert all(torch.equal(a, b) for a, b in zip(got, expected, strict=True))
        larger = pytree.tree_map_only(torch.Tensor, lambda t: torch.cat([t, t]) if t.dim() else t, inputs)
        assert first.dim() == 0 or module.why_not(*larger) is not None
        try:
            expected = run(plain(module), larger)
        except Exception:  # noqa: BLE001: the original may be for this shape alone as well
            return
        assert all(torch.equal(a, b) for a, b in zip(run(module, larger), expected, strict=True))


def test_gradients_are_the_originals():
    module, inputs = made(11)
    leaves = [t for t in pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor) and t.is_floating_point()]
    if not leaves:
        pytest.skip("no input has a gradient")
    for leaf in leaves:
        leaf.requires_grad_()
    assert "gradient" in module.why_not(*inputs)
    results = [t for t in pytree.tree_leaves(module(*inputs)) if t.is_floating_point()]
    if not results:
        pytest.skip("no output has a gradient")
    result = results[0]
    result.sum().backward()
    assert any(leaf.grad is not None for leaf in leaves)


def test_a_demanded_kernel_is_an_error_where_it_cannot_be_used():
    module, inputs = made(18)
    module.set_backend("kernel", strict=True).train()
    with torch.no_grad(), pytest.raises(KernelNotUsed, match="eval"):
        module(*inputs)
    with torch.no_grad():
        assert_right(module.eval()(*inputs), module, inputs)
    module.set_backend("original")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        module(*inputs)


def test_it_compiles_into_one_graph():
    module, inputs = made(12)
    compiled = torch.compile(module, fullgraph=True)
    with torch.no_grad():
        assert_right(compiled(*inputs), module, inputs)
        graphs = []

        def keep(graph, _inputs):
            graphs.append(graph)
            return graph.forward

        torch._dynamo.reset()
        torch.compile(module, fullgraph=True, backend=keep)(*inputs)
    called = [str(node.target) for graph in graphs for node in graph.graph.nodes if node.op == "call_function"]
    assert any("@namespace@" in name for name in called), f"the operator is not in the graph: {called}"


def test_threads_may_call_it_at_once():
    module, _ = made(13)
    sets = [made(14 + k)[1] for k in range(3)]
    results = {}

    def work(k):
        with torch.no_grad():
            results[k] = [module(*sets[k]) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(sets))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, inputs in enumerate(sets):
        for result in results[k]:
            assert_right(result, module, inputs)


def test_any_number_of_threads_gives_the_same_answer():
    module, inputs = made(17)
    usual = torch.get_num_threads()
    try:
        for threads in (1, usual + 1):
            torch.set_num_threads(threads)
            with torch.no_grad():
                assert_right(module(*inputs), module, inputs)
    finally:
        torch.set_num_threads(usual)
