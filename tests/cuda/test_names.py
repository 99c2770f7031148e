"""No name of a user's meets a writer's: problems whose tensors are called like everything that the playbooks' writers use, in every language."""

import copy
import json
import keyword
import re
import shutil
import subprocess
import sys

import pytest
from nvidia import ROOT, cutlass_headers, find_nvcc
from playbook import Problems, asked

sys.path.insert(0, str(ROOT / "tests" / "support"))
from cli import PASSED  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from kw_oracle.names import c_identifier  # noqa: E402

LANGUAGES = {"cpp": "", "opencl": "opencl", "cuda-c": "gpu", "cute": "gpu", "triton": "gpu", "tilelang": "gpu"}
SUFFIX = {"cpp": ".cpp", "opencl": ".cl", "cuda-c": ".cu", "cute": ".cu", "triton": ".py", "tilelang": ".py"}
FAMILIES = ["broadcast_chain", "softmax_short", "residual_norm", "column_sums", "scaled_linear", "attention", "running_sum", "gathered"]
# What a person would think of first; everything else is found in what the writers write.
PLAIN = ("k i j x out m n acc tl T float int main exp kw_kernel KW_TILE_M threadIdx blockIdx min max tile row column tx bx stream state args "
         "weights memory launch torch triton std half kernel global restrict lambda class in is None shape range self_ scratch0 rows "
         "options params grid NULL NAN INFINITY M_PI FLT_MAX CLK_A cudaStreamDefault stdin assert linux").split()


def pool(language):
    found = sorted((ROOT / "knowledge" / "strategies" / LANGUAGES[language]).glob("*.json"))
    return [strategy["id"] for path in found for strategy in json.loads(path.read_text(encoding="utf-8"))]


def without_comments(source, python):
    return re.sub(r"\"[^\"\n]*\"|" + (r"'[^'\n]*'|#.*" if python else r"//.*"), "", source)


def words_of(source, python):
    """The text in words and signs; a member is one with what stands before it."""
    return re.findall(r"(?:\.|->|::)?[A-Za-z_]\w*|\d[\w.]*|\S", without_comments(source, python))


def renamed(problem, names):
    """The problem with these names for its tensors, as the oracle makes identifiers of them."""
    problem, taken = copy.deepcopy(problem), set()
    for spec, name in zip(problem["inputs"] + problem["parameters"] + problem["outputs"], names, strict=True):
        spec["c_name"] = c_identifier(name, taken)
    return problem


def kernels(orders):
    answers = [json.loads(line) for line in asked([json.dumps(order) for order in orders])]
    assert not any("error" in each for each in answers), answers
    return [each["source"] for each in answers]


def own_functions(source, python):
    """The functions that a writer wrote, without those that it pasted."""
    parts = re.split(r"(?m)^(?=[^\s}].*[:{]$)", without_comments(source, python))
    return [part for part in parts if re.match(r"def launch|def \w+\(.*\):\n|extern|__global__|__kernel", part) and not part.startswith("def kw_")]


def assert_tensors_are_but_tensors(source, count, python):
    """What has a tensor's name is only read, written at a position and handed on: nothing else has that name."""
    entries = re.findall(r"def launch\((.*)\)|void kw_kernel\((.*)\) \{|__kernel void \w+\((.*)\) \{", source)
    names = {name for entry in entries for name in re.findall(r"(\w+)(?:,|$)", "".join(entry))}
    tensors = names - {"stream", "state"} - set(re.findall(r"// kw:scratch (\w+)", source))
    assert len(tensors) >= count or "__kernel" in source, source
    for part in own_functions(source, python):
        words = words_of(part, python)
        for before, word, behind in zip(words, words[1:], words[2:]):
            if word not in tensors:
                continue
            declared = re.match(r"[A-Za-z_]\w*$", before) and before not in ("__restrict", "__restrict__", "restrict", "auto", "const", "return")
            used = behind in "[+,);:-" or behind in (".data", ".as_strided", ".view") or (behind == "=" and before in ("auto", "const"))
            assert used and not declared, f"{before} {word} {behind}\n{source}"


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    return Problems(tmp_path_factory.mktemp("problems"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_kernel_may_be_the_name_of_a_tensor(problems, language):
    python = SUFFIX[language] == ".py"
    orders = [{"problem": problems.of(name)[0], "dsl": language, "strategies": strategies}
              for name in FAMILIES for strategies in ([], pool(language))]
    texts = kernels(orders)
    everywhere = sorted({word for text in texts for word in words_of(text, python) if re.match(r"[A-Za-z_]", word)} | set(PLAIN))
    given = []
    for order, text in zip(orders, texts, strict=True):
        own = sorted({word for word in words_of(text, python) if re.match(r"[A-Za-z_]", word)})
        words = own + everywhere[len(given) % 7::7]
        count = sum(len(order["problem"][kind]) for kind in ("inputs", "parameters", "outputs"))
        for begin in range(0, len(words), count):
            given.append((dict(order, problem=renamed(order["problem"], (words[begin:begin + count] + words[:count])[:count])), count))
    assert len(given) > 200
    for (_, count), text in zip(given, kernels([order for order, _ in given]), strict=True):
        assert "user__" not in text
        assert_tensors_are_but_tensors(text, count, python)


def macros(command, text, folder, suffix):
    source = folder / f"macros{suffix}"
    source.write_text(text, encoding="utf-8")
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=True)
    return {found[1] for found in re.finditer(r"^#define ([A-Za-z]\w*)(?!\w|\()", done.stdout, re.MULTILINE)}


def test_no_macro_and_no_word_of_a_language_is_a_tensors_name(tmp_path):
    headers = "".join(f"#include <{name}>\n" for name in ("cstddef", "cstdint", "cmath", "algorithm", "new", "limits", "omp.h", "immintrin.h"))
    found = macros(["g++", "-std=c++20", "-fopenmp", "-dM", "-E"], headers, tmp_path, ".cpp")
    if find_nvcc():
        found |= macros([str(find_nvcc()), "-std=c++20", "-E", "-Xcompiler", "-dM"], "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n", tmp_path, ".cu")
    if shutil.which("clang"):
        found |= macros(["clang", "-cl-std=CL3.0", "-x", "cl", "-Xclang", "-finclude-default-header", "-dM", "-E"], "\n", tmp_path, ".cl")
    assert len(found) > 100
    kept = {name for name in found | set(keyword.kwlist) if c_identifier(name, set()) == name}
    assert not {name for name in kept if not name.startswith("_")}


def test_a_constant_of_one_tensor_is_not_the_name_of_another():
    taken = set()
    assert [c_identifier(name, taken) for name in ("x", "x_dim0", "y_numel", "y", "x_dim", "z_stride1")] == [
        "x", "x_dim0_2", "y_numel", "y_2", "x_dim", "z_stride1"]


def crowded(names):
    """A product, a softmax, a norm and what is pointwise over inputs of these names, and the same names for parameters."""
    inputs = [name for name in names if name.isidentifier() and not keyword.iskeyword(name)]
    left, right, *others = inputs
    total = "".join(f" + {name} * {number + 1}.0" for number, name in enumerate(others))
    return f"""import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        for name in {names[:2] + ['lambda', 'in', 'kernel']!r}:
            if not hasattr(self, name):
                self.register_parameter(name, nn.Parameter(torch.randn(8)))

    def forward(self, {', '.join(inputs)}):
        total = {left} @ {right}{total}
        for parameter in self.parameters():
            total = total + parameter
        return total.softmax(-1), total.sum(0)


def get_inputs():
    return [torch.randn(8, 8) for _ in range({len(inputs)})]


def get_init_inputs():
    return []
"""


# Few arguments are passed as they are, many in a struct.
@pytest.mark.parametrize("count", [24, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kernel_with_such_names_compiles_and_is_right(kw, problems, tmp_path, language, count):  # noqa: F811
    if language in ("cuda-c", "cute", "tilelang") and find_nvcc() is None or language == "cute" and cutlass_headers() is None:
        pytest.skip("there is no compiler for it")
    if language == "tilelang" and not any((ROOT / ".venv").glob("lib/python*/site-packages/tilelang")):
        pytest.skip("TileLang is not installed")
    python = SUFFIX[language] == ".py"
    described = problems.of(f"first_{count}", crowded([f"a{number}" for number in range(count)]))[0]
    text, = kernels([{"problem": described, "dsl": language, "strategies": pool(language)}])
    used = [word for word in words_of(text, python) if word.isidentifier() and not keyword.iskeyword(word) and not re.match(r"a\d+|_|self$|super$|nn$", word)]
    most = sorted(set(used), key=lambda word: (-used.count(word), word))
    names = (most[:count * 2 // 3] + [word for word in PLAIN if word.isidentifier() and not keyword.iskeyword(word)] + most[count * 2 // 3:])
    names = [name for name in dict.fromkeys(names) if name not in ("torch", "nn", "range", "self")][:count]
    path = tmp_path / "crowded.py"
    path.write_text(crowded(names), encoding="utf-8")
    order = {"problem": problems.of(f"crowded_{language}_{count}".replace("-", "_"), crowded(names))[0], "dsl": language, "strategies": pool(language)}
    kernel = tmp_path / f"kernel{SUFFIX[language]}"
    kernel.write_text(kernels([order])[0], encoding="utf-8")
    run = kw("verify", path, kernel, "--dsl", language)
    assert run.status == PASSED, f"{run}\n{kernel.read_text(encoding='utf-8')}"
