"""A model that writes kernels for a GPU: what it wrote is run on the virtual one, its mistake told by line, repaired, and estimated."""

import json
import sys

import pytest
from nvidia import ROOT, find_nvcc

sys.path.insert(0, str(ROOT / "tests" / "support"))
import model_server  # noqa: E402
from cli import PASSED  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")

KEY = "sk-planted-2b81d07e"
GUARD, MISTAKE = "if (i < x_numel)", "if (i <= x_numel)"
KERNEL = f"""#include "problem.h"

__global__ void scale_relu(const float* x, float* out) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  {GUARD} out[i] = (x[i] < 0.0f ? 0.0f : x[i]) * 2.5f;
}}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {{
  scale_relu<<<(x_numel + 255) / 256, 256, 0, stream>>>(x, out);
}}
"""
LINE = next(line for line in KERNEL.splitlines() if GUARD in line)
PATCH = f"<<<<<<< FIND\n{LINE.replace(GUARD, MISTAKE)}\n=======\n{LINE}\n>>>>>>> REPLACE\n"
# Each prompt by words that only its role has; the debugger's with what the virtual GPU found.
RULES = [
    {"contains": "high-performance CUDA C\\+\\+ for NVIDIA GPUs[^§]*cudaStream_t stream[^§]*One ```cuda block",
     "answer": f"```cuda\n{KERNEL.replace(GUARD, MISTAKE)}```\n"},
    {"contains": "why a CUDA C\\+\\+ kernel fails[^§]*:5[^§]*out_of_bounds",
     "answer": json.dumps({"cause": "the guard lets one thread too many in", "lines": [5], "fix": "i < x_numel"})},
    {"contains": "You repair CUDA C\\+\\+ kernels", "answer": PATCH},
]


@pytest.fixture
def server():
    started, url = model_server.start({"key": KEY, "model": "tester", "rules": RULES})
    yield url
    started.shutdown()


def test_a_models_kernel_is_found_wrong_repaired_and_estimated(kw, server, tmp_path):  # noqa: F811
    kernel = tmp_path / "kernel.cu"
    run = kw("generate", "problems/scale_relu.py", "--dsl", "cuda-c", "--machine", "a100", "--model", "tester", "--base-url", server, "--out",
             kernel, "--json", OPENAI_API_KEY=KEY, KERNELWRIGHT_CONFIG=tmp_path / "config.toml")
    assert run.status == PASSED, run
    first, second = run.json["attempts"]
    assert first["proposal"]["task"] == "translate" and first["verdict"] == "crashed", run
    assert first["details"]["pattern"] == "out_of_bounds" and first["details"]["place"].endswith(":5"), run
    assert second["proposal"]["task"] == "repair" and second["verdict"] == "passed", run
    assert kernel.read_text() == KERNEL
    measured = kw("measure", "problems/scale_relu.py", kernel, "--machine", "a100", "--json")
    assert measured.json["estimate"]["seconds"] > 0 and measured.json["timing"] is None, measured


@pytest.mark.slow
def test_a_model_joins_a_search(kw, server, tmp_path):  # noqa: F811
    run = kw("optimize", "problems/scale_relu.py", "--dsl", "cuda-c", "--machine", "a100", "--search", "refine", "--model", "tester",
             "--base-url", server, "--evaluations", "6", "--out", tmp_path / "best.cu", "--json", OPENAI_API_KEY=KEY,
             KERNELWRIGHT_CONFIG=tmp_path / "config.toml")
    assert run.status == PASSED, run
    written = [each for each in run.json["individuals"] if each["proposal"].get("author") == "tester"]
    assert written and written[0]["verdict"] == "crashed" and written[0]["details"]["pattern"] == "out_of_bounds", run
    assert run.json["run"]["estimate"]["seconds"] > 0 and run.json["run"]["confirmed"] is None, run
    assert "not measured" in (tmp_path / "best.cu").read_text()
