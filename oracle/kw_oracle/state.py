"""A module's tensors by name: parameters and buffers in state_dict() order, then non-persistent buffers and plain tensor
attributes. Reads and replaces them; which values they get is decided elsewhere."""

from dataclasses import dataclass

import torch

from kw_oracle.loading import Problem
from kw_oracle.tensors import check_tensor


@dataclass
class Entry:
    name: str
    kind: str  # parameter, buffer, attribute
    owner: torch.nn.Module
    key: str
    item: int | str | None = None  # inside a list, tuple or dict that is the attribute

    def get(self) -> torch.Tensor:
        if self.key in self.owner._parameters:
            return self.owner._parameters[self.key].detach()
        if self.key in self.owner._buffers:
            return self.owner._buffers[self.key].detach()
        value = self.owner.__dict__[self.key]
        return (value if self.item is None else value[self.item]).detach()

    def set(self, tensor: torch.Tensor) -> None:
        if self.key in self.owner._parameters:
            self.owner._parameters[self.key].data = tensor
        elif self.key in self.owner._buffers:
            self.owner._buffers[self.key] = tensor
        elif self.item is None:
            self.owner.__dict__[self.key] = tensor
        else:
            holder = self.owner.__dict__[self.key]
            if isinstance(holder, tuple):
                changed = list(holder)
                changed[self.item] = tensor
                self.owner.__dict__[self.key] = tuple(changed)
            else:
                holder[self.item] = tensor


def _attributes(prefix: str, module: torch.nn.Module):
    for key, buffer in module._buffers.items():
        if buffer is not None and key in module._non_persistent_buffers_set:
            yield Entry(prefix + key, "attribute", module, key)
    for key, value in vars(module).items():
        if isinstance(value, torch.Tensor):
            yield Entry(prefix + key, "attribute", module, key)
        elif key.startswith("_"):
            continue  # PyTorch's own dictionaries of parameters, hooks and submodules
        elif isinstance(value, (list, tuple, dict)) and type(value) in (list, tuple, dict):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            yield from (Entry(f"{prefix}{key}.{item}", "attribute", module, key, item)
                        for item, inner in items if isinstance(inner, torch.Tensor))


def entries_of(problem: Problem, model: torch.nn.Module) -> list[Entry]:
    entries = []
    for name, value in model.state_dict(keep_vars=True).items():
        owner_name, _, key = name.rpartition(".")
        if not isinstance(value, torch.Tensor) or key == "_extra_state":
            continue
        owner = model.get_submodule(owner_name)
        entries.append(Entry(name, "parameter" if key in owner._parameters else "buffer", owner, key))
    taken = {entry.name for entry in entries}
    for prefix, module in model.named_modules():
        entries += [e for e in _attributes(prefix + "." if prefix else "", module) if e.name not in taken]
    for entry in entries:
        check_tensor(problem, f"{entry.kind} '{entry.name}'", entry.get())
    return entries
