"""Builds the package for pip, with the PyTorch of the environment that it is installed into. pip would otherwise build in an empty environment, without that
PyTorch's headers, and download build tools for it: here nothing but PyTorch and a C++ compiler is needed, and no network."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
NAME, VERSION = "@name@", "0.1.0"
METADATA = f"""Metadata-Version: 2.1
Name: @distribution@
Version: {VERSION}
Summary: @title@: a PyTorch module with a kernel of its own, by Kernelwright
Requires-Python: >=3.10
Requires-Dist: torch>=2.6
Description-Content-Type: text/markdown

"""


def compiled(folder: pathlib.Path) -> None:
    # pip's empty environment is made by these two variables: without them the interpreter sees its packages again.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    command = [sys.executable, ROOT / "build_kernel.py", ROOT / "src" / NAME / "sources", folder / "kernel.so"]
    if subprocess.run(list(map(str, command)), env=environment).returncode != 0:
        raise SystemExit("the kernel could not be compiled: it needs PyTorch in this environment and a C++20 compiler, see above")


def files_of(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def write_wheel(wheel: pathlib.Path, contents: dict[str, bytes]) -> None:
    information = f"{NAME}-{VERSION}.dist-info"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
            archive.writestr(name, content)
        archive.writestr(f"{information}/RECORD", "\n".join([*record, f"{information}/RECORD,,", ""]))


def information_files() -> dict[str, bytes]:
    information = f"{NAME}-{VERSION}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: kernelwright\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    return {f"{information}/METADATA": (METADATA + (ROOT / "README.md").read_text(encoding="utf-8")).encode(), f"{information}/WHEEL": wheel.encode()}


def tag() -> str:
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")  # the library belongs to no version of Python


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    for name, content in information_files().items():
        path = pathlib.Path(metadata_directory, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return f"{NAME}-{VERSION}.dist-info"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    contents = {str(path.relative_to(ROOT / "src")): path.read_bytes() for path in files_of(ROOT / "src")}
    with tempfile.TemporaryDirectory() as folder:
        compiled(pathlib.Path(folder))
        contents |= {f"{NAME}/{path.name}": path.read_bytes() for path in files_of(pathlib.Path(folder))}
    wheel = pathlib.Path(wheel_directory, f"{NAME}-{VERSION}-{tag()}.whl")
    write_wheel(wheel, contents | information_files())
    return wheel.name


def build_sdist(sdist_directory, config_settings=None):
    archive = pathlib.Path(sdist_directory, f"{NAME}-{VERSION}.tar.gz")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive, "w:gz") as sdist:
        information = pathlib.Path(folder, "PKG-INFO")
        information.write_text(METADATA, encoding="utf-8")
        sdist.add(information, f"{NAME}-{VERSION}/PKG-INFO")
        for path in files_of(ROOT):
            if path.parent == ROOT or path.relative_to(ROOT).parts[0] in ("src", "tests"):
                sdist.add(path, f"{NAME}-{VERSION}/{path.relative_to(ROOT)}")
    return archive.name
