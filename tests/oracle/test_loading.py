"""Broken problems are told apart in a sentence that names the file and the line."""

import pytest
from oracle_rig import HEADER, problem_text
from kw_oracle.describe import describe
from kw_oracle.errors import OracleError
from kw_oracle.loading import build_model, load_problem

GOOD = {"forward": "return x * 2", "inputs": "[torch.randn(3, 4)]"}


def failure(path: str) -> OracleError:
    with pytest.raises(OracleError) as caught:
        describe(path, lambda message: None)
    error = caught.value
    assert "\n" not in error.message and "Traceback" not in error.message and error.hint
    return error


def line_of(text: str, part: str) -> int:
    return 1 + next(number for number, line in enumerate(text.splitlines()) if part in line)


def test_missing_file(tmp_path):
    error = failure(str(tmp_path / "none.py"))
    assert error.kind == "bad_problem" and "none.py" in error.message


def test_folder_instead_of_a_file(tmp_path):
    assert failure(str(tmp_path)).kind == "bad_problem"


@pytest.mark.parametrize("text, part", [
    ("import torch\nclass Model(:\n", "class Model("),
    (HEADER + "x = 1\ny = nothing\n", "nothing"),
    (HEADER + "import a_package_that_is_not_there\n", "a_package"),
    (problem_text(forward="return x @ torch.zeros(77, 2)", inputs="[torch.randn(3, 4)]"), "77"),
    (problem_text(**{**GOOD, "inputs": "[torch.randn(3, -4)]"}), "-4"),
    (problem_text(**GOOD, init="raise ValueError('two\\nlines')"), "ValueError"),
    (problem_text(**GOOD, init_inputs="[][1]"), "[][1]"),
])
def test_the_line_is_named(write, text, part):
    path = write(text)
    error = failure(path)
    assert error.kind == "bad_problem"
    assert f"{path}:{line_of(text, part)}" in error.message


@pytest.mark.parametrize("name", ["Model", "get_inputs", "get_init_inputs"])
def test_missing_parts(write, name):
    error = failure(write(problem_text(**GOOD) + f"del {name}\n"))
    assert error.kind == "bad_problem" and name in error.message


@pytest.mark.parametrize("ending, said", [
    ("Model = 3\n", "Model"),
    ("class Model:\n    pass\n", "Module"),
    ("def get_inputs():\n    return torch.randn(3, 4)\n", "get_inputs"),
    ("def get_init_inputs():\n    return 3\n", "get_init_inputs"),
])
def test_wrong_parts(write, ending, said):
    error = failure(write(problem_text(**GOOD) + ending))
    assert error.kind == "bad_problem" and said in error.message


def test_not_text(tmp_path):
    path = tmp_path / "binary.py"
    path.write_bytes(bytes(range(256)))
    assert failure(str(path)).kind == "bad_problem"


@pytest.mark.parametrize("init_arguments, init_inputs, expected", [
    ("a, b", "[3, 4]", (3, 4)),
    ("a, b", "(3, 4)", (3, 4)),
    ("a, b=9", "[[3], {'b': 4}]", (3, 4)),
    ("a=7, b=9", "[[], {'b': 4}]", (7, 4)),
    ("a, b", "[[1, 2, 3], {'k': 4}]", ([1, 2, 3], {"k": 4})),
    ("a=7, b=9", "[]", (7, 9)),
    ("a, b", "{'a': 1, 'b': 2}", (1, 2)),
])
def test_forms_of_init_inputs(write, init_arguments, init_inputs, expected):
    path = write(**GOOD, init="self.seen = (a, b)", init_arguments=init_arguments, init_inputs=init_inputs)
    assert build_model(load_problem(path), 0).seen == expected


def test_weights_follow_their_seed_alone(write):
    path = write(**GOOD, init="self.l = nn.Linear(4, 4)\nimport random, numpy\nself.r = (random.random(), numpy.random.rand())")
    problem = load_problem(path)
    first, again, other = build_model(problem, 1), build_model(problem, 1), build_model(problem, 2)
    assert first.l.weight.equal(again.l.weight) and first.r == again.r
    assert not first.l.weight.equal(other.l.weight) and first.r[0] != other.r[0] and first.r[1] != other.r[1]


def test_lazy_modules_get_their_shapes(write):
    problem = load_problem(write(forward="return self.l(x)", inputs="[torch.randn(3, 4)]", init="self.l = nn.LazyLinear(5)"))
    assert build_model(problem, 0).l.weight.shape == (5, 4)


@pytest.mark.parametrize("parts, said", [
    ({"forward": "return x.cuda()"}, "CUDA"),
    ({"inputs": "[torch.randn(3, device='cuda')]"}, "CUDA"),
    ({"inputs": "[torch.randn(3, device='meta')]"}, "meta"),
    ({"forward": "return x.to(torch.complex64)"}, "complex64"),
    ({"inputs": "[torch.randn(3, dtype=torch.complex64)]"}, "complex64"),
    ({"inputs": "[torch.eye(3).to_sparse()]"}, "sparse"),
    ({"inputs": "[torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.quint8)]"}, "quint8"),
    ({"inputs": "[object()]"}, "object"),
    ({"inputs": "[torch.randn(3), float('inf')]", "arguments": "x, s"}, "inf"),
    ({"forward": "return 3.5"}, "float"),
    ({"forward": "return x, 'name'"}, "str"),
    ({"forward": "return x + torch.rand_like(x)"}, "another output"),
    ({"forward": "self.n = getattr(self, 'n', 0) + 1\nreturn x * self.n"}, "another output"),
    ({"forward": "return x + 1", "inputs": "[torch.randn(int(torch.randint(2, 99999, ())))]"}, "shapes"),
    ({"forward": "torch.empty(1 << 50)\nreturn x"}, "memory"),
])
def test_unsupported_says_what(write, parts, said):
    error = failure(write(**{**GOOD, **parts}))
    assert error.kind == "unsupported" and said in error.message, error.message


@pytest.mark.parametrize("forward", ["return None", "return []", "x * 2"])
def test_no_output(write, forward):
    error = failure(write(**{**GOOD, "forward": forward}))
    assert error.kind == "bad_problem" and "no tensor" in error.message
