"""What an exported module does where its kernel is not for a call: it says so once and lets the original compute, or raises where the kernel was demanded.
Nothing is compiled here: the operator is a function that counts its calls."""

import copy
import importlib.util
import pathlib
import pickle
import sys
import warnings

import pytest
import torch
from torch import nn

FILE = pathlib.Path(__file__).resolve().parents[3] / "knowledge" / "export" / "native" / "kernel_module.py"
CALLS = []


def operator(x, weight):
    CALLS.append(x.shape)
    return x * weight


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), 2.0))

    def forward(self, x):
        return x * self.weight


class WithItsOwnStrict(nn.Module):
    def __init__(self, size, strict="theirs"):
        super().__init__()
        self.weight, self.strict = nn.Parameter(torch.ones(size)), strict


@pytest.fixture
def exported(monkeypatch):
    """The module's file as it is in an export, and a class made with it."""
    spec = importlib.util.spec_from_file_location("exported_kernel_module", FILE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "exported_kernel_module", module)
    spec.loader.exec_module(module)
    tensor = {"kind": "input", "dtype": "float32", "shape": [4, 8], "strides": [8, 1]}
    contract = {"parameters": ["x"], "arguments": [{"leaf": 0}], "returns": {"leaf": 0}, "inputs": [{"name": "x", **tensor}],
                "weights": [{"name": "weight", "kind": "parameter", "dtype": "float32", "shape": [8], "strides": [1]}], "outputs": [{"shape": [4, 8], "dtype": "float32"}]}

    class Model(module.KernelModule, Scale):
        kernel_name = "kw_scale"

    Model.contract, Model.operator = module.Contract(contract), staticmethod(operator)
    module.Model = Model
    CALLS.clear()
    return module


def called(model, x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = model(x)
        except (TypeError, RuntimeError):  # the original cannot do this either
            result = None
    return result, seen


# What makes a call none for the kernel, and a word of the reason.
REASONS = {"gradient": (lambda m, x: x, "no_grad"), "shape": (lambda m, x: x[:2], "(2, 8)"), "dtype": (lambda m, x: x.double(), "float64"),
           "device": (lambda m, x: x.to("meta"), "meta"), "strides": (lambda m, x: torch.empty(8, 4).t().copy_(x), "(1, 4)"),
           "training": (lambda m, x: m.train() and x, "eval()"), "type": (lambda m, x: [x], "is a list")}


@pytest.mark.parametrize("kind", REASONS)
def test_a_fallback_is_said_once_with_its_reason_and_what_to_do(exported, kind):
    model, (change, word) = exported.Model(8).eval(), REASONS[kind]
    x = change(model, torch.ones(4, 8))
    with torch.set_grad_enabled(kind == "gradient"):
        result, seen = called(model, x)
        assert result is None or result.shape == x.shape
        assert not called(model, x)[1], "said a second time"
    assert not CALLS
    (warning,) = seen
    assert warning.category is exported.FallbackWarning and warning.filename == __file__, "it names the line that called the module"
    said = str(warning.message)
    assert word in said and "kw_scale" in said and "filterwarnings" in said and "strict=True" in said, said


@pytest.mark.parametrize("kind", REASONS)
def test_a_kernel_that_was_demanded_is_used_or_the_call_fails(exported, kind):
    model, (change, word) = exported.Model(8, backend="kernel", strict=True).eval(), REASONS[kind]
    with torch.no_grad():
        assert torch.equal(model(torch.ones(4, 8)), torch.full((4, 8), 2.0)) and len(CALLS) == 1
    x = change(model, torch.ones(4, 8))
    with torch.set_grad_enabled(kind == "gradient"), pytest.raises(exported.KernelNotUsed) as refused:
        model(x)
    assert word in str(refused.value) and "kw_scale" in str(refused.value) and len(CALLS) == 1


def test_the_way_to_silence_it_that_it_names_does(exported):
    model = exported.Model(8).eval()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="the kernel of kw_scale")
        model(torch.ones(4, 8))
    assert not seen


def test_the_original_by_choice_is_silent(exported):
    model = exported.Model(8, backend="original").eval()
    assert not called(model, torch.ones(4, 8))[1] and not CALLS
    assert "original" in model.why_not(torch.ones(4, 8))
    model.set_backend("kernel")
    with torch.no_grad():
        assert not called(model, torch.ones(4, 8))[1] and len(CALLS) == 1


def test_a_library_that_cannot_be_loaded_is_an_error_where_the_kernel_was_demanded(exported):
    exported.Model.operator, exported.Model.unavailable = None, "it was compiled for avx9000"
    with torch.no_grad():
        assert not called(exported.Model(8).eval(), torch.ones(4, 8))[1], "that was said when it was not loaded"
        with pytest.raises(exported.KernelNotUsed, match="avx9000"):
            exported.Model(8, strict=True).eval()(torch.ones(4, 8))


def test_choices_that_contradict_each_other_are_refused(exported):
    with pytest.raises(ValueError, match="'kernel', 'original'"):
        exported.Model(8, backend="cuda")
    with pytest.raises(ValueError, match="choose one"):
        exported.Model(8, backend="original", strict=True)


def test_an_argument_of_the_original_by_the_same_name_stays_the_originals(exported):
    class Model(exported.KernelModule, WithItsOwnStrict):
        contract = exported.Model.contract

    model = Model(8, strict="mine", backend="original")
    assert model.strict == "mine" and not model._kernel_strict and model._kernel_backend == "original"


def test_a_copy_keeps_the_choice(exported):
    model = exported.Model(8, strict=True).eval()
    assert copy.deepcopy(model)._kernel_strict
    state = pickle.loads(pickle.dumps(model.state_dict()))
    assert list(state) == ["weight"], "the choice is no state of the module"


def test_what_a_compiler_sees_in_place_of_outputs_has_their_memory_format(exported):
    spec = {"shape": [2, 3, 4, 5], "strides": [60, 1, 15, 3], "dtype": "float32"}
    contract = exported.Contract({"parameters": [], "arguments": [], "returns": {"leaf": 0}, "inputs": [], "weights": [], "outputs": [spec]})
    (made,) = contract.made_outputs()
    assert made.is_contiguous(memory_format=torch.channels_last) and made.dtype is torch.float32


def test_a_whole_graph_is_still_compiled_and_the_warning_is_said_then(exported):
    model = torch.compile(exported.Model(8).eval(), fullgraph=True, backend="eager")
    result, seen = called(model, torch.ones(4, 8))
    assert result.requires_grad and [w for w in seen if w.category is exported.FallbackWarning]
