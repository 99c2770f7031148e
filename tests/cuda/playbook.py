"""Kernels of the GPU playbook for small problems, tried on the virtual GPU: several stand in one program, each in a namespace of its own."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch
from nvidia import BINARY, ROOT, cutlass_headers, find_nvcc, vgpu
from playbook_cases import problem_text

sys.path.insert(0, str(ROOT / "oracle"))
from kw_oracle.graph import export_graph  # noqa: E402
from kw_oracle.loading import load_problem  # noqa: E402
from kw_oracle.subject import Subject  # noqa: E402
from kw_oracle.tensors import spec_of  # noqa: E402

TYPES = {"float32": "float", "float64": "double", "float16": "kw_f16", "bfloat16": "kw_bf16", "int64": "std::int64_t",
         "int32": "std::int32_t", "bool": "bool"}
KERNELS = BINARY.parent / "gpu_kernels"


@dataclass
class Trial:
    """One kernel of one problem; what it gave once the program has run."""
    name: str
    problem: dict
    kernel: dict
    inputs: list
    reference: list
    eager: list
    outputs: list = field(default_factory=list)

    @property
    def entry(self):
        return re.sub(r"\W", "_", self.name)

    def error(self):
        """The largest error of an output against float64, and eager's own, both relative to the largest number."""
        worst, noise = 0.0, 0.0
        for got, reference, eager in zip(self.outputs, self.reference, self.eager):
            if not reference.is_floating_point():
                assert torch.equal(got, reference), f"{self.name}: whole numbers differ"
                continue
            assert torch.equal(got.isnan(), reference.isnan()), f"{self.name}: NaN"
            size = reference.abs().nan_to_num(0, 0, 0).max().clamp_min(1e-30)
            worst = max(worst, float((got.double() - reference).abs().nan_to_num(0).max() / size))
            noise = max(noise, float((eager.double() - reference).abs().nan_to_num(0).max() / size))
        return worst, noise


class Problems:
    """Descriptions, inputs and answers, made once for each problem."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def of(self, name, text=None):
        if name not in self.known:
            path = self.folder / f"{name}.py"
            path.write_text(text or problem_text(name), encoding="utf-8")
            self.known[name] = self._described(path)
        return self.known[name]

    def _described(self, path):
        problem = load_problem(str(path))
        subject = Subject(problem, 1)
        given = subject.inputs(2)
        eager = subject.run(given)
        reference, _ = subject.reference(given)
        taken, state = set(), subject.state()
        described = {
            "name": problem.name, "file": str(problem.path), "source_hash": "0", "torch": str(torch.__version__), "inputs": given.specs(taken),
            "parameters": [spec_of(entry.name, entry.kind, state[entry.name], taken) for entry in subject.entries],
            "outputs": [spec_of(name, "output", tensor, taken) for name, tensor in eager.items()],
            "flops": 0, "bytes": 0, "essential_bytes": 0, 
            "sensitivity": {"other_input": 1, "zeros": 1, "constant": 1, "telling": True, "note": ""}, "notes": []}
        graph, graph_error = export_graph(subject, given)
        described.update(graph=graph, graph_error=graph_error)
        tensors = {**given.tensors(), **state}
        inputs = [tensors[spec["name"]] for spec in described["inputs"] + described["parameters"]]
        return described, inputs, list(reference.values()), list(eager.values())


def asked(lines):
    """The answers of gpu_kernels to some orders."""
    done = subprocess.run([str(os.environ.get("KW_GPU_KERNELS", KERNELS))], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          check=True, env={**os.environ, "KERNELWRIGHT_ROOT": str(ROOT)})
    return done.stdout.splitlines()


def written(problems, orders):
    """Trials for (label, problem, strategies, options): the kernels that the playbook writes."""
    lines = [json.dumps({"problem": problems.of(name)[0], "strategies": strategies, **options})
             for _, name, strategies, options in orders]
    trials = []
    for (label, name, _, _), line in zip(orders, asked(lines), strict=True):
        kernel = json.loads(line)
        assert "error" not in kernel, f"{label}: {kernel}"
        problem, inputs, reference, eager = problems.of(name)
        trials.append(Trial(label, problem, kernel, inputs, reference, eager))
    return trials


def ptx_of(trial, folder):
    """What nvcc makes of a kernel on its own."""
    source = folder / f"{trial.entry}.cu"
    (folder / "problem.h").write_text("#include <cstdint>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\nusing kw_f16 = __half;\n"
                                      "using kw_bf16 = __nv_bfloat16;\n", encoding="utf-8")
    source.write_text(trial.kernel["source"], encoding="utf-8")
    made = source.with_suffix(".ptx")
    include = ["-I", str(cutlass_headers())] if trial.kernel["dsl"] == "cute" else []
    subprocess.run([str(find_nvcc()), "-ptx", "-std=c++17", "-arch=compute_80", "-w", "--expt-relaxed-constexpr", "-I", str(folder), *include,
                    str(source), "-o", str(made)], check=True, capture_output=True, text=True)
    return made.read_text(encoding="utf-8")


def presences(trials, folder):
    """For each kernel, what becomes of its claims: {id: "present", "struck" or "unknown"}."""
    with ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda trial: ptx_of(trial, folder), trials))
    lines = [json.dumps({"source": trial.kernel["source"], "ptx": text, "claims": trial.kernel["claims"]})
             for trial, text in zip(trials, texts, strict=True)]
    return [json.loads(line) for line in asked(lines)]


def declaration(problem, entry):
    specs = problem["inputs"] + problem["parameters"] + problem["outputs"]
    parts = [f"{'' if spec['kind'] == 'output' else 'const '}{TYPES[spec['dtype']]}* {spec['c_name']}" for spec in specs]
    return f'extern "C" void {entry}({", ".join(parts)}, cudaStream_t stream);'


def program_of(trials, folder):
    """A program that calls each kernel on inputs from files and leaves the outputs in files."""
    includes, body, calls = {"#include <cstdio>", "#include <cstdint>", "#include <vector>", "#include <cuda_runtime.h>",
                             "#include <cuda_fp16.h>", "#include <cuda_bf16.h>"}, [], []
    for trial in trials:
        lines = []
        for line in trial.kernel["source"].splitlines():
            if line.startswith("#include"):
                if "problem.h" not in line:
                    includes.add(line)
            else:
                lines.append(line)
        text = "\n".join(lines).replace("kw_kernel(", f"{trial.entry}(")
        macros = sorted(set(re.findall(r"#define (KW_\w+)", text)))
        body.append(f"namespace ns_{trial.entry} {{\n{declaration(trial.problem, trial.entry)}\n{text}\n}}\n"
                    + "".join(f"#undef {macro}\n" for macro in macros))
        outputs = trial.problem["outputs"]
        arguments = []
        calls.append("  {")
        for number, (spec, tensor) in enumerate(zip(trial.problem["inputs"] + trial.problem["parameters"], trial.inputs, strict=True)):
            flat = torch.as_strided(tensor.detach(), (spec["span"],), (1,)).contiguous()
            path = folder / f"{trial.entry}.in{number}"
            path.write_bytes(flat.view(torch.uint8).numpy().tobytes() if flat.dtype != torch.bool else flat.numpy().tobytes())
            calls.append(f"    auto* a{number} = static_cast<{TYPES[spec['dtype']]}*>(from_file(\"{path}\"));")
            arguments.append(f"a{number}")
        for number, spec in enumerate(outputs):
            size = int(torch.empty(0, dtype=getattr(torch, spec["dtype"])).element_size()) * max(1, spec["span"])
            calls.append(f"    {TYPES[spec['dtype']]}* o{number};\n    cudaMalloc(&o{number}, {size});")
            arguments.append(f"o{number}")
        calls.append(f"    ns_{trial.entry}::{trial.entry}({', '.join(arguments)}, nullptr);")
        for number, spec in enumerate(outputs):
            size = int(torch.empty(0, dtype=getattr(torch, spec["dtype"])).element_size()) * spec["span"]
            calls.append(f"    to_file(\"{folder / f'{trial.entry}.out{number}'}\", o{number}, {size});")
        calls.append(f"    if (cudaGetLastError() != cudaSuccess) std::printf(\"{trial.entry} failed\\n\");\n  }}")
    return "\n".join(sorted(includes)) + """
using kw_f16 = __half;
using kw_bf16 = __nv_bfloat16;
void* from_file(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  std::vector<char> bytes;
  char piece[65536];
  for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, file)) > 0;) bytes.insert(bytes.end(), piece, piece + got);
  std::fclose(file);
  void* memory = nullptr;
  cudaMalloc(&memory, bytes.size());
  cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  return memory;
}
void to_file(const char* path, const void* memory, std::size_t size) {
  std::vector<char> bytes(size);
  cudaMemcpy(bytes.data(), memory, size, cudaMemcpyDeviceToHost);
  std::FILE* file = std::fopen(path, "wb");
  std::fwrite(bytes.data(), 1, size, file);
  std::fclose(file);
}
""" + "\n".join(body) + "\nint main() {\n" + "\n".join(calls) + "\n  return 0;\n}\n"


def cute_options(trials):
    """What nvcc needs where a kernel is in CuTe."""
    return ["--nvcc=--expt-relaxed-constexpr", f"--nvcc=-I{cutlass_headers()}"] if any(trial.kernel["dsl"] == "cute" for trial in trials) else []


def run_trials(trials, folder, options=(), command="run"):
    """Runs them all as one program, takes in their outputs; the answer of the virtual GPU."""
    source = folder / "trials.cu"
    source.write_text(program_of(trials, folder), encoding="utf-8")
    run = vgpu(command, source, options=["--json", "--nvcc=-std=c++20", *cute_options(trials), *options])
    assert run.out.startswith("{") and "status" in run.json, run
    assert run.json["status"] == 0 and not run.json["stdout"], run
    for trial in trials:
        trial.outputs = []
        for number, spec in enumerate(trial.problem["outputs"]):
            bytes_ = bytearray((folder / f"{trial.entry}.out{number}").read_bytes())
            trial.outputs.append(torch.frombuffer(bytes_, dtype=getattr(torch, spec["dtype"])).as_strided(spec["shape"], spec["strides"]))
    return run
