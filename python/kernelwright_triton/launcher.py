"""From the arguments of a launch, as Triton hands them over, to bytes as the kernel's parameters have them."""

import ctypes
import struct
import sys

from triton.backends.driver import decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl

from .errors import UnsupportedError

CODES = {"i1": "?", "u1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
          "fp16": "e", "bf16": "H", "fp32": "f", "f32": "f", "fp64": "d"}
_SHAPE, RANGE = struct.Struct("=6I"), struct.Struct("=QQQ")


def bf16_bits(value):
    """A float as bfloat16, rounded to the nearest even."""
    if value != value:
        return 0x7FC0
    bits, = struct.unpack("<I", struct.pack("<f", value))
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def leaves_of(signature, values, prefix=""):
    """(name, type, value) of everything that is no constexpr, tuples taken apart."""
    for i, (name, kind) in enumerate(signature):
        if isinstance(kind, tuple):
            yield from leaves_of([(f"{name}[{j}]", each) for j, each in enumerate(kind)], values[i])
        elif kind != "constexpr":
            yield name, kind, values[i]


class Layout:
    """Where each of a kernel's values goes among its parameters."""

    def __init__(self, kinds, parameters):
        if len(kinds) > len(parameters):
            raise UnsupportedError(f"the kernel takes {len(parameters)} parameters, and the launch has {len(kinds)}")
        text, at = "=", 0
        # Behind the user's: pointers to scratch memory of Triton's own.
        for kind, (offset, size) in zip(kinds + ["*"] * (len(parameters) - len(kinds)), parameters):
            code = "Q" if kind[0] == "*" else CODES.get(kind)
            if code is None:
                raise UnsupportedError(f"a kernel's parameter of type '{kind}' is not known to the virtual GPU's driver")
            text += "x" * (offset - at) + code
            at = offset + struct.calcsize("=" + code)
            if at > offset + size:
                raise UnsupportedError(f"a parameter of type '{kind}' has {size} bytes in PTX")
        self.struct, self.extra = struct.Struct(text), len(parameters) - len(kinds)


class Launcher:
    """Called once per launch; what does not change from launch to launch is worked out once."""

    reachable = {}  # tensors that kernels may reach without having them as arguments, by name: of all launchers

    def __init__(self, src, metadata):
        names = src.fn.arg_names if hasattr(src, "fn") else None
        signature = [(names[key] if names and isinstance(key, int) else str(key), kind) for key, kind in src.signature.items()]
        described = getattr(metadata, "tensordesc_meta", None)
        if described and any(each is not None for each in described):
            raise UnsupportedError("a kernel that takes tensor descriptors as TMA: the virtual GPU has no tensor maps; "
                                   "activate() a GPU before H100 for it")
        self._expand = any(isinstance(kind, str) and kind.startswith("tensordesc") for _, kind in signature)
        self.num_ctas = getattr(metadata, "num_ctas", 1)
        self.num_warps, self.shared = metadata.num_warps, metadata.shared
        self.scratch = (metadata.global_scratch_size, metadata.profile_scratch_size)
        self._signature = signature
        self._flat = not self._expand and not any(isinstance(kind, tuple) for _, kind in signature)
        self._places = [i for i, (_, kind) in enumerate(signature) if kind != "constexpr"]
        self._kinds = [signature[i][1] for i in self._places] if self._flat else None
        self._names = {}
        self._layouts = {}
        self._described = described
        if self._expand:
            self._prepare_descriptors({name: kind for name, kind in signature})

    def _prepare_descriptors(self, signature):
        # Before H100 a descriptor is a pointer, shape and strides, passed one by one.
        expanded = expand_signature(list(signature.values()), self._described, "nvTmaDesc")
        flattened = {}
        take = lambda values: flattened.__setitem__("values", values)  # noqa: E731: the wrapper calls it with its last argument
        wrapped = wrap_handle_tensordesc_impl(lambda *args: take(args[-1]), signature, self._described,
                                              lambda arg, _meta, _base: decompose_descriptor(arg))

        def flatten(args):
            wrapped(None, args)
            return flattened.pop("values")

        self._flatten, self._expanded = flatten, [(f"argument {i}", kind) for i, kind in enumerate(expanded)]

    def arguments(self, args):
        """(names, kinds, values) of a launch's arguments, constants left out."""
        if not self._flat:
            return self._leaves(args)
        return [self._signature[i][0] for i in self._places], self._kinds, [args[i] for i in self._places]

    def _leaves(self, args):
        """(names, kinds, values) where tuples or descriptors are among the arguments."""
        if self._expand:
            leaves = list(leaves_of(self._expanded, self._flatten(args)))
        else:
            leaves = list(leaves_of(self._signature, args))
        return [leaf[0] for leaf in leaves], [leaf[1] for leaf in leaves], [leaf[2] for leaf in leaves]

    def _name_address(self, name):
        """Where C finds the name; kept as long as the launcher."""
        kept = self._names.get(name)
        if kept is None:
            buffer = ctypes.create_string_buffer(name.encode())
            kept = self._names[name] = (ctypes.addressof(buffer), buffer)
        return kept[0]

    def _range_of(self, name, tensor):
        """The storage behind a tensor, packed as kw_vgpu_range."""
        owner = getattr(tensor, "base", tensor) if not hasattr(tensor, "untyped_storage") else tensor
        if owner.device.type != "cpu":
            raise TypeError(f"'{name}' is a tensor on '{owner.device}': the virtual GPU takes tensors on the CPU; "
                            "triton.runtime.driver.active.get_active_torch_device() is the device to make them on")
        storage = owner.untyped_storage()
        return RANGE.pack(storage.data_ptr(), storage.nbytes(), self._name_address(name))

    def _scratch(self, programs):
        """Memory that Triton itself asks for, by program."""
        import torch

        return [torch.zeros(size * programs, dtype=torch.int8) if size else None for size in self.scratch]

    def __call__(self, grid_x, grid_y, grid_z, stream, kernel, kernel_metadata, launch_metadata, enter_hook, exit_hook, *args):
        grid_x *= self.num_ctas
        programs = grid_x * grid_y * grid_z
        if programs <= 0:
            return
        names, kinds, values = self.arguments(args)
        ranges = []
        for i, kind in enumerate(kinds):
            value = values[i]
            if kind[0] == "*":
                if hasattr(value, "data_ptr"):
                    ranges.append(self._range_of(names[i], value))
                    values[i] = value.data_ptr()
                elif value is None:
                    values[i] = 0
            elif kind == "bf16":
                values[i] = bf16_bits(value)
        for name, tensor in self.reachable.items():
            ranges.append(self._range_of(name, tensor))
        key = (kernel, tuple(kinds))
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = Layout(list(kinds), kernel.parameters)
        scratch = self._scratch(programs) if any(self.scratch) else [None] * layout.extra
        for tensor in scratch:
            if tensor is not None:
                ranges.append(self._range_of("Triton's scratch memory", tensor))
        values += [0 if tensor is None else tensor.data_ptr() for tensor in scratch[:layout.extra]]
        parameters = layout.struct.pack(*values)
        if enter_hook is not None:
            enter_hook(launch_metadata)
        kernel.launch(_SHAPE.pack(grid_x, grid_y, grid_z, 32 * self.num_warps, 1, 1), self.shared, parameters, b"".join(ranges),
                      len(ranges), lambda text: sys.stdout.write(text))
        if exit_hook is not None:
            exit_hook(launch_metadata)
