"""Problems with operations that the playbook does not know: named at once, with what can be done all the same."""

import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import NOT_PASSED, PASSED, assert_refused, problem_text  # noqa: E402
from documented import assert_documented  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

# Two known pieces around two unknown operations; the second hangs on the first.
LAYERS = problem_text(init="self.a = nn.Linear(64, 96); self.b = nn.Linear(96, 32)", inputs="[torch.randn(48, 64)]",
                      forward="y = torch.relu(self.a(x)); y = torch.sort(y, dim=1)[0]; y = torch.cumsum(torch.linalg.svdvals(y), 0); "
                              "return torch.sigmoid(self.b(y.expand(96, -1).t()))")


@pytest.fixture
def layers(tmp_path):
    file = tmp_path / "layers.py"
    file.write_text(LAYERS.replace("y.expand(96, -1).t()", "y.unsqueeze(1).expand(-1, 96)"))
    return file


def commands_in(text):
    return [pathlib.Path(file) for file in re.findall(r"kernelwright optimize (\S+\.py)", text)]


def test_describe_names_them_before_a_search_fails(kw, layers):
    told = kw("describe", layers)
    assert told.status == PASSED and told.err == "", told
    for word in ("sort", "svdvals", "--model", "linear, relu"):
        assert word in told.out, f"'{word}' is missing\n{told}"
    report = kw("describe", layers, "--json").json
    assert_documented(report, "describe")
    assert len(report["unknown_operations"]) == 2, report["unknown_operations"]
    assert {"operations", "places", "file"} == set(report["searchable_pieces"][0])
    assert commands_in(told.out) == [pathlib.Path(piece["file"]) for piece in report["searchable_pieces"]]


def test_a_search_names_them_all_offers_a_model_and_the_pieces(kw, layers):
    refused = kw("optimize", layers, "--evaluations", "2")
    assert_refused(refused, "aten.sort", "svdvals", "--model", "kernelwright measure", "linear, relu")
    pieces = commands_in(refused.err)
    assert len(pieces) >= 2 and all(piece.is_file() for piece in pieces), refused
    # As it is printed. Whether a kernel's clocks are believed hangs on how busy the machine is, and is not asked here.
    found = kw("optimize", pieces[0], "--evaluations", "2", "--baseline", "eager", "--out", layers.parent / "piece.cpp", "--json")
    assert found.status in (PASSED, NOT_PASSED) and len(found.json["individuals"]) == 2, found


def test_in_another_language_the_commands_are_for_that(kw, layers):
    refused = kw("optimize", layers, "--evaluations", "2", "--dsl", "opencl")
    assert_refused(refused, "aten.sort")
    assert all("--dsl opencl" in line for line in refused.err.splitlines() if "kernelwright optimize" in line), refused


def test_a_problem_that_is_known_names_none(kw):
    report = kw("describe", "problems/linear_relu.py", "--json").json
    assert report["unknown_operations"] == [] and "searchable_pieces" not in report
    assert "unknown" not in kw("describe", "problems/linear_relu.py").out


def test_nothing_but_an_unknown_operation_has_no_pieces(kw, tmp_path):
    (tmp_path / "sorts.py").write_text(problem_text(forward="return torch.sort(x)[0]"))
    refused = kw("optimize", tmp_path / "sorts.py", "--evaluations", "2")
    assert_refused(refused, "aten.sort", "--model")
    assert "pieces" not in refused.err and "Traceback" not in refused.err
