"""Writes the files of a set: beside the target and renamed, so that a reader never sees half a file."""

import errno
import os
import pathlib

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from kw_oracle.errors import OracleError, bad_request, one_line
from kw_oracle.tensors import memory_of

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def make_folder(folder: str) -> pathlib.Path:
    path = pathlib.Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        for stale in (path / "set.json", *path.glob(".*.part")):
            stale.unlink(missing_ok=True)
    except OSError as error:
        raise _failure(path, error) from None
    return path


def _failure(path: pathlib.Path, error: Exception) -> OracleError:
    number = getattr(error, "errno", None)
    text = str(error)
    if number in _FULL or any(f"os error {code}" in text for code in _FULL) or "No space left" in text:
        return OracleError("no_space", f"{path}: no space left to write it", "free some space or choose another folder")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else one_line(text)
    return bad_request(f"{path}: cannot be written ({reason})", "choose a folder that can be written")


def _write(path: pathlib.Path, writer) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        writer(part)
        os.replace(part, path)
    except (OSError, SafetensorError) as error:
        part.unlink(missing_ok=True)
        raise _failure(path, error) from None


def _as_stored(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    stored, seen = {}, set()
    for name, tensor in tensors.items():
        flat = tensor if tensor.is_contiguous() else memory_of(tensor)
        place = flat.untyped_storage().data_ptr()
        # safetensors refuses tensors that share memory.
        stored[name] = flat.clone() if place in seen else flat
        seen.add(place)
    return stored


def write_tensors(path: pathlib.Path, tensors: dict[str, torch.Tensor]) -> None:
    stored = _as_stored(tensors)
    _write(path, lambda part: save_file(stored, str(part)))


def write_text(path: pathlib.Path, text: str) -> None:
    _write(path, lambda part: part.write_text(text, encoding="utf-8"))


def read_tensors(path: pathlib.Path) -> dict[str, torch.Tensor]:
    try:
        return load_file(str(path))
    except (OSError, SafetensorError) as error:
        raise bad_request(f"{path}: cannot be read ({one_line(error)})", "materialise the folder first") from None
