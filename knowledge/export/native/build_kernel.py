"""Compiles the kernel and its operator into one library: the kernel with exactly the flags that it was verified with, the operator for any
processor. Needs g++ (or $CXX) and PyTorch's headers, nothing else."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KERNEL_FLAGS = @kernel_flags@
# What the kernel's code may use, by the compiler's macro, as /proc/cpuinfo calls it.
FEATURES = {
    "__SSE3__": "pni", "__SSSE3__": "ssse3", "__SSE4_1__": "sse4_1", "__SSE4_2__": "sse4_2", "__POPCNT__": "popcnt", "__MOVBE__": "movbe",
    "__AVX__": "avx", "__AVX2__": "avx2", "__FMA__": "fma", "__F16C__": "f16c", "__BMI__": "bmi1", "__BMI2__": "bmi2", "__LZCNT__": "abm",
    "__AVX512F__": "avx512f", "__AVX512CD__": "avx512cd", "__AVX512BW__": "avx512bw", "__AVX512DQ__": "avx512dq", "__AVX512VL__": "avx512vl",
    "__AVX512IFMA__": "avx512ifma", "__AVX512VBMI__": "avx512vbmi", "__AVX512VBMI2__": "avx512_vbmi2", "__AVX512VNNI__": "avx512_vnni",
    "__AVX512BITALG__": "avx512_bitalg", "__AVX512VPOPCNTDQ__": "avx512_vpopcntdq", "__AVX512BF16__": "avx512_bf16",
    "__AVX512FP16__": "avx512_fp16", "__AVXVNNI__": "avx_vnni", "__AMX_TILE__": "amx_tile", "__AMX_INT8__": "amx_int8",
    "__AMX_BF16__": "amx_bf16", "__GFNI__": "gfni", "__VAES__": "vaes", "__VPCLMULQDQ__": "vpclmulqdq", "__SHA__": "sha_ni",
    "__ARM_FEATURE_SVE": "sve", "__ARM_FEATURE_SVE2": "sve2", "__ARM_FEATURE_DOTPROD": "asimddp", "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC": "asimdhp",
    "__ARM_FEATURE_BF16": "bf16", "__ARM_FEATURE_MATMUL_INT8": "i8mm",
}


def run(command: list) -> str:
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"{command[0]} cannot be run ({error.strerror}): install g++, or set CXX to a C++20 compiler") from None
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def features_used(compiler: str) -> list[str]:
    macros = set(re.findall(r"^#define (\w+)", run([compiler, *KERNEL_FLAGS, "-dM", "-E", "-x", "c++", os.devnull]), re.MULTILINE))
    return sorted(name for macro, name in FEATURES.items() if macro in macros)


def has_openmp_of_its_own() -> bool:
    """Whether PyTorch has loaded one. The kernel then uses the same, and the same threads; two teams would wait for each other's cores."""
    maps = pathlib.Path("/proc/self/maps")
    return maps.exists() and re.search(r"/lib(?:gomp|iomp5|omp)\b[^/]*\.so", maps.read_text()) is not None


def torch_options() -> tuple[list, list]:
    try:
        import torch
        from torch.utils import cpp_extension
    except ImportError as error:
        raise SystemExit(f"PyTorch is needed to build this: {error}") from None
    compile_options = [f"-isystem{folder}" for folder in cpp_extension.include_paths()]
    compile_options.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}")
    link_options = [f"-L{folder}" for folder in cpp_extension.library_paths()] + ["-lc10", "-ltorch_cpu"]
    return compile_options, link_options + ([] if has_openmp_of_its_own() else ["-fopenmp"])


def build(source: pathlib.Path, library: pathlib.Path) -> None:
    """Writes the library, and beside it what it was built for."""
    import torch

    compiler = os.environ.get("CXX") or "g++"
    compile_options, link_options = torch_options()
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kernel, operator = pathlib.Path(folder, "kernel.o"), pathlib.Path(folder, "ops.o")
        defines = @defines@
        common = [f"-I{source}", *defines, "-DKW_RUNNER_ENTRY"]
        run([compiler, *KERNEL_FLAGS, *common, "-w", "-include", "problem.h", "-c", source / "kernel.cpp", "-o", kernel])
        run([compiler, "-std=c++20", "-O2", "-fopenmp", "-fPIC", "-fvisibility=hidden", *common, *compile_options, "-c", source / "ops.cpp", "-o", operator])
        run([compiler, "-shared", f"-Wl,--version-script={source / 'exports.map'}", kernel, operator, *link_options, "-o", library])
    built = {"features": features_used(compiler), "compiler": run([compiler, "--version"]).splitlines()[0], "flags": KERNEL_FLAGS,
             "torch": torch.__version__}
    library.with_name("built_for.json").write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python build_kernel.py FOLDER_OF_THE_SOURCES LIBRARY.so")
    build(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
