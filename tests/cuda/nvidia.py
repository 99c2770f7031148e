"""What the tests of CUDA programs share: where nvcc and CUTLASS are, and one run of a program on the virtual GPU."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BINARY = pathlib.Path(os.environ.get("KW_BIN", ROOT / "build" / "release" / "bin" / "kernelwright")).resolve()


def find_nvcc():
    """Its path, or None; where kernelwright looks too."""
    folders = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    found = shutil.which("nvcc") or next((path for folder in folders if folder for path in [f"{folder}/bin/nvcc"]
                                          if os.access(path, os.X_OK)), None)
    return pathlib.Path(found).resolve() if found else None


def cuda_headers():
    """The folder with cuda_runtime.h beside nvcc, or None."""
    nvcc = find_nvcc()
    folders = [nvcc.parents[1] / "include", *nvcc.parents[1].glob("targets/*/include")] if nvcc else []
    return next((folder for folder in folders if (folder / "cuda_runtime.h").is_file()), None)


def cutlass_headers():
    """The include folder of the package nvidia-cutlass, or None."""
    found = [path for folder in sys.path for path in pathlib.Path(folder or ".").glob("cutlass_library/source/include") if path.is_dir()]
    return found[0] if found else None


@dataclass
class CudaRun:
    status: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)

    def __str__(self):
        return f"status {self.status}\n--- out\n{self.out[-4000:]}\n--- err\n{self.err[-4000:]}"


def vgpu(command, source, *arguments, options=(), timeout=1200, **environment) -> CudaRun:
    """kernelwright vgpu COMMAND OPTIONS SOURCE ARGUMENTS, with none of the caller's own settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KERNELWRIGHT_")}
    settings = {"KERNELWRIGHT_ROOT": str(ROOT), **{name: str(value) for name, value in environment.items()}}
    done = subprocess.run([str(BINARY), "vgpu", command, *options, str(source), *arguments], cwd=HERE, env={**inherited, **settings},
                          capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    return CudaRun(done.returncode, done.stdout, done.stderr)
