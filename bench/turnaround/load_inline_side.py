"""The load_inline side of the turnaround benchmark: compiles each kernel as a PyTorch extension, compares it with the float64
references as often as the job says, and times it against eager. PyTorch is imported before any clock starts.

    python load_inline_side.py JOB.json        prints one JSON object a round
"""

import importlib.util
import json
import os
import pathlib
import statistics
import sys
import time

import torch
from safetensors.torch import load_file
from torch.utils.cpp_extension import load_inline

RELATIVE_TOLERANCE = 1e-4  # of the element, and of the output's root mean square


def wrapper_of(case: dict) -> str:
    """A function over tensors that allocates the outputs and calls the kernel."""
    arguments = case["inputs"] + case["parameters"]
    for spec in arguments + case["outputs"]:
        if spec["dtype"] != "float32" or spec["kind"] == "scalar":
            raise SystemExit(f"{case['name']}: '{spec['name']}' is no float32 tensor; this benchmark wraps no other")
    if "kw_prepare" in case["kernel"]:
        raise SystemExit(f"{case['name']}: this benchmark wraps no kernel with kw_prepare")
    names = [spec["c_name"] for spec in arguments]
    outputs = [spec["c_name"] for spec in case["outputs"]]
    taken = ", ".join(f"torch::Tensor {name}" for name in names)
    made = "".join(f"  auto {spec['c_name']} = torch::empty({{{', '.join(map(str, spec['shape']))}}}, torch::kFloat32);\n"
                   for spec in case["outputs"])
    pointers = ", ".join(f"{name}.data_ptr<float>()" for name in names + outputs)
    return (f"std::vector<torch::Tensor> run({taken}) {{\n{made}"
            f"  kw_kernel({pointers});\n  return {{{', '.join(outputs)}}};\n}}\n")


def compile_kernel(case: dict, folder: pathlib.Path, number: int):
    folder.mkdir()
    (folder / "problem.h").write_text(case["header"])
    source = f"{case['kernel']}\n// round {number}\n{wrapper_of(case)}"
    return load_inline(name=f"{case['name']}_{number}_{os.getpid()}", cpp_sources=[source], functions=["run"],
                       extra_cflags=["-O3", "-march=native", "-fopenmp", "-std=c++20"], extra_ldflags=["-fopenmp"],
                       extra_include_paths=[str(folder)], build_directory=str(folder)).run


def arguments_from(case: dict, folder: str) -> list[torch.Tensor]:
    inputs, weights = (load_file(pathlib.Path(folder) / f"{name}.safetensors") for name in ("inputs", "weights"))
    return [inputs[spec["name"]] for spec in case["inputs"]] + [weights[spec["name"]] for spec in case["parameters"]]


def check(case: dict, run) -> None:
    references = {}
    for folder in case["checks"]:
        if folder not in references:
            references[folder] = (arguments_from(case, folder), load_file(pathlib.Path(folder) / "reference.safetensors"))
        arguments, reference = references[folder]
        for spec, output in zip(case["outputs"], run(*arguments)):
            truth = reference[spec["name"]]
            scale = truth.square().mean().sqrt().item()
            if not torch.allclose(output.double(), truth, rtol=RELATIVE_TOLERANCE, atol=RELATIVE_TOLERANCE * scale, equal_nan=True):
                raise SystemExit(f"{case['name']}: '{spec['name']}' is not right on {folder}")


def eager_module(case: dict):
    spec = importlib.util.spec_from_file_location(f"problem_{case['name']}", case["problem"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.Model(*module.get_init_inputs()).eval()
    model.load_state_dict(load_file(pathlib.Path(case["timing"][0]) / "weights.safetensors"))
    return model


def block_seconds(call, arguments: list, first: int, calls: int, warmup: int) -> list[float]:
    seconds = []
    for turn in range(-warmup, calls):
        chosen = arguments[(first + turn) % len(arguments)]
        begin = time.perf_counter()
        call(*chosen)
        if turn >= 0:
            seconds.append(time.perf_counter() - begin)
    return seconds


def timing(case: dict, run) -> float:
    """As many calls as the other side made, in as many alternating blocks; returns the speedup."""
    model = eager_module(case)
    arguments = [arguments_from(case, folder) for folder in case["timing"]]
    inputs = [chosen[:len(case["inputs"])] for chosen in arguments]
    warmup = 2 if len(arguments) >= 8 else 1
    eager, kernel = [], []
    for block in range(case["blocks"]):
        first = case["calls"] * block // case["blocks"]
        calls = case["calls"] * (block + 1) // case["blocks"] - first
        eager += block_seconds(model, inputs, first, calls, warmup)
        kernel += block_seconds(run, arguments, first, calls, warmup)
    return statistics.median(eager) / statistics.median(kernel)


def main() -> None:
    job = json.loads(pathlib.Path(sys.argv[1]).read_text())
    torch.set_num_threads(job["threads"])
    for index, case in enumerate(job["cases"]):
        for number in range(job["rounds"]):
            begin = time.perf_counter()
            run = compile_kernel(case, pathlib.Path(job["folder"]) / f"{index}_{number}", number)
            compiled = time.perf_counter()
            with torch.no_grad():
                check(case, run)
                checked = time.perf_counter()
                speedup = timing(case, run)
            end = time.perf_counter()
            print(json.dumps({"case": index, "seconds": end - begin, "compile": compiled - begin, "check": checked - compiled,
                              "timing": end - checked, "speedup": speedup}), flush=True)


if __name__ == "__main__":
    main()
