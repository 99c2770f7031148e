"""Problems that nobody wrote: random graphs of the operations that the playbook knows, with small and odd shapes.

    python graphs.py COUNT SEED FOLDER

writes COUNT problems. The same numbers give the same problems. Each operation is tried on PyTorch's meta device before it is kept, so that a problem always has
a shape; values stay in a range where float32 has something to say. Operations with steps (comparisons, rounding) are given inputs alone: behind other arithmetic the
last bit would decide, and no two right kernels would agree."""

import pathlib
import random
import sys
import warnings

import torch
import torch.nn.functional as F  # noqa: F401: the generated lines use it
from torch import nn  # noqa: F401

EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 67)
MOST_ELEMENTS = 6000

POINTWISE = ("torch.tanh({x})", "torch.sigmoid({x})", "F.relu({x})", "F.gelu({x})", "F.gelu({x}, approximate='tanh')", "F.silu({x})", "F.softplus({x})",
             "F.leaky_relu({x}, 0.2)", "F.elu({x})", "F.hardswish({x})", "F.hardsigmoid({x})", "F.mish({x})", "F.selu({x})", "{x}.abs()", "-{x}", "{x} * 0.5 + 0.25",
             "torch.sin({x})", "torch.cos({x})", "torch.exp(-{x}.abs())", "torch.sqrt({x}.abs() + 1)", "torch.rsqrt({x} * {x} + 1)", "torch.log1p({x}.abs())",
             "{x}.clamp(-1, 1)", "F.hardtanh({x})", "F.softsign({x})", "1 / (2 + torch.tanh({x}))", "torch.erf({x})", "F.logsigmoid({x})", "{x}.clamp(min=0)",
             "torch.tanh({x}) ** 2", "F.dropout({x}, 0.5, training=False)", "F.softshrink({x}, 0.3)")
STEPPED = ("torch.where({x} > 0, {x}, 0.5 * {x})", "{x}.masked_fill({x} < 0.1, -1.0)", "torch.sign({x})", "torch.floor({x} * 3)", "({x} > 0).float()",
           "torch.remainder({x}, 0.75)", "torch.fmod({x}, -0.5)")
PAIRS = ("{x} + {y}", "{x} - {y}", "{x} * torch.tanh({y})", "torch.maximum({x}, {y})", "torch.minimum({x}, {y})", "{x} / (1 + {y}.abs())", "torch.lerp({x}, {y}, 0.3)",
         "{x} + 0.5 * {y}")
REDUCED = ("{x}.mean({d}, keepdim={k})", "{x}.sum({d}, keepdim={k}) / 8", "{x}.amax({d}, keepdim={k})", "{x}.amin({d}, keepdim={k})",
           "torch.logsumexp({x}, {d}, keepdim={k})", "torch.linalg.vector_norm({x}, dim={d}, keepdim={k})", "{x}.var({d}, unbiased=False, keepdim={k})", "{x}.std({d}, correction=0, keepdim={k})",
           "(1 + 0.1 * torch.tanh({x})).prod({d}, keepdim={k})")
ALONG = ("torch.softmax({x}, {d})", "torch.log_softmax({x}, {d})", "torch.cumsum({x}, {d}) / 4", "{x} - {x}.mean({d}, keepdim=True)", "F.normalize({x}, dim={d})",
         "{x}.flip({d})", "torch.roll({x}, 1, {d})", "{x}.unsqueeze({d})", "{x}.narrow({d}, 0, max(1, {x}.shape[{d}] // 2))", "torch.cummax({x}, {d}).values",
         "torch.cat([{x}, {x}.tanh()], {d})", "{x}.chunk(2, {d})[0]", "torch.stack([{x}, -{x}], {d})", "F.glu(torch.cat([{x}, {x}], {d}), {d})",
         "{x}.select({d}, {x}.shape[{d}] - 1)")
SHAPED = ("{x}.flatten()", "{x}.flatten(1)", "{x}.transpose(0, -1)", "{x}.transpose(0, -1).contiguous()", "{x}.reshape(-1, {x}.shape[-1])", "{x}.squeeze()",
          "F.pad({x}, (1, 2))", "{x}.reshape({x}.shape[0], -1)", "{x}.expand(3, *{x}.shape)", "{x}[..., ::2]", "{x}[..., 1:]", "torch.tril({x})", "torch.triu({x}, 1)")
POOLED = {3: ("torch.softmax(({x} * 0.5) @ {x}.tanh().transpose(1, 2), -1) @ {x}", "F.interpolate({x}, scale_factor=2, mode='linear')",
              "F.avg_pool1d({x}, 2)", "F.max_pool1d({x}, 3, 2, 1)", "F.adaptive_avg_pool1d({x}, 1)", "F.avg_pool1d({x}, 3, 1, 1)", "{x}[:, [0, -1]]",
              "F.pad({x}, (1, 2), mode='reflect')", "F.pad({x}, (3, 0), mode='circular')"),
          5: ("F.avg_pool3d({x}, 2)", "F.max_pool3d({x}, 2)", "F.adaptive_avg_pool3d({x}, 1)"),
          4: ("F.interpolate({x}, scale_factor=2)", "F.interpolate({x}, scale_factor=1.5, mode='bilinear')", "F.interpolate({x}, size=(5, 7), mode='bicubic')",
              "F.interpolate({x}, size=(3, 8), mode='bilinear', align_corners=True)", "F.scaled_dot_product_attention({x} * 0.5, {x}.sin(), {x})",
              "F.scaled_dot_product_attention({x} * 0.5, {x}.sin(), {x}, is_causal=True)",
              "F.avg_pool2d({x}, 2)", "F.max_pool2d({x}, 3, 2, 1)", "F.adaptive_avg_pool2d({x}, 1)", "F.pixel_shuffle(torch.cat([{x}] * 4, 1), 2)",
              "F.pad({x}, (2, 1, 0, 1), mode='replicate')", "F.pad({x}, (1, 0, 1, 1), mode='reflect')", "{x}[:, :, [0, -1, 0]]")}


# What follows a layer with weights of its own: scales, shifts, sums and means, which may be done to the weights instead.
TAILS = ("{x} * 0.5", "1 - {x}", "{x} + {x} * 0.25", "-{x} / 3", "{x} - 0.3", "{x}.mean(-1)", "{x}.sum(1) / 4", "{x}.mean(tuple(range(2, {x}.dim())))",
         "{x}.mean(2, keepdim=True)", "{x} * torch.linspace(0.5, 1.5, {x}.shape[-1])")


class Graph:
    def __init__(self, chance: random.Random):
        self.chance = chance
        self.lines: list[str] = []
        self.module: list[str] = []
        self.inputs: list[tuple[str, tuple[int, ...]]] = []
        self.live: dict[str, torch.Tensor] = {}  # by name, on the meta device
        self.members = nn.Module()
        for _ in range(chance.choice((1, 1, 1, 2))):
            self.add_input(self.shape())
        for _ in range(chance.randint(1, 7)):
            self.grow()

    def shape(self) -> tuple[int, ...]:
        rank = self.chance.choice((1, 2, 2, 3, 3, 4, 4, 5))
        extents = [self.chance.choice(EXTENTS) for _ in range(rank)]
        while torch.Size(extents).numel() > MOST_ELEMENTS:
            extents[self.chance.randrange(rank)] = self.chance.choice((1, 2, 3, 5))
        if self.chance.random() < 0.01:
            extents[self.chance.randrange(rank)] = 0
        return tuple(extents)

    def add_input(self, shape) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, tuple(shape)))
        self.live[name] = torch.empty(shape, device="meta")
        return name

    def take(self, text: str) -> bool:
        """Keeps a line if PyTorch takes it and it is not too large."""
        try:
            result = eval(text, {"torch": torch, "F": F, "self": self.members, **self.live})  # noqa: S307: our own text
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            return False
        if not isinstance(result, torch.Tensor) or result.numel() > 4 * MOST_ELEMENTS or result.dim() > 5:
            return False
        if result.numel() == 0 and "self.m" in text and all(tensor.numel() > 0 for tensor in self.live.values()):
            return False  # a transposed convolution: its rule of shapes takes what its code refuses
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.live[name] = result
        return True

    def grow(self) -> None:
        for _ in range(12):
            if self.take(self.proposal()):
                return

    def proposal(self) -> str:
        chance = self.chance
        # Mostly what came last: long chains say more than many short ones.
        x = list(self.live)[-1] if chance.random() < 0.75 else chance.choice(list(self.live))
        tensor = self.live[x]
        if self.lines and x == list(self.live)[-1] and "self.m" in self.lines[-1] and chance.random() < 0.5:
            return chance.choice(TAILS + POOLED.get(tensor.dim(), ())).format(x=x)
        kind = chance.choices(("pointwise", "stepped", "pair", "reduced", "along", "shaped", "pooled", "linear", "norm", "product", "conv"),
                              (8, 1, 5, 4, 4, 3, 2, 3, 2, 2, 4))[0]
        if kind == "pointwise":
            return chance.choice(POINTWISE).format(x=x)
        if kind == "stepped":
            return chance.choice(STEPPED).format(x=chance.choice(self.inputs)[0])
        if kind == "pair":
            others = [name for name in self.live if name != x]
            y = chance.choice(others) if others and chance.random() < 0.5 else self.add_input(self.beside(tensor.shape))
            return chance.choice(PAIRS).format(x=x, y=y)
        if kind == "pooled" and tensor.dim() in POOLED:
            return chance.choice(POOLED[tensor.dim()]).format(x=x)
        if kind in ("linear", "norm") and tensor.dim() > 0 or kind == "conv" and 3 <= tensor.dim() <= 5 and tensor.numel() > 0:
            return self.member(kind, tensor.shape).format(x=x)
        if kind == "product" and tensor.dim() >= 2:
            y = self.add_input((*tensor.shape[:-2], tensor.shape[-1], chance.choice(EXTENTS)))
            return f"torch.matmul({x}, {y}) / {max(1, int(tensor.shape[-1] ** 0.5))}"
        if kind == "reduced" and tensor.dim() > 0:
            dims = chance.sample(range(tensor.dim()), chance.randint(1, min(2, tensor.dim())))
            return chance.choice(REDUCED).format(x=x, d=dims[0] if len(dims) == 1 else tuple(dims), k=chance.random() < 0.5)
        if kind == "along" and tensor.dim() > 0:
            return chance.choice(ALONG).format(x=x, d=chance.randrange(tensor.dim()))
        return chance.choice(SHAPED).format(x=x)

    def beside(self, shape) -> tuple[int, ...]:
        """A shape that broadcasts with this one."""
        extents = [extent if self.chance.random() < 0.6 else 1 for extent in shape]
        return tuple(extents[self.chance.randrange(len(extents) + 1) if self.chance.random() < 0.3 else 0:])

    def member(self, kind: str, shape) -> str:
        name = f"m{len(self.module)}"
        if kind == "linear":
            text = f"nn.Linear({shape[-1]}, {self.chance.choice(EXTENTS)}, bias={self.chance.random() < 0.7})"
        elif kind == "conv":
            text = self.convolution(shape)
        else:
            channels = shape[1] if len(shape) > 1 else 1
            text = self.chance.choice((f"nn.LayerNorm({shape[-1]})", f"nn.LayerNorm({list(shape[-2:])})", f"nn.GroupNorm(1, {channels})",
                                       f"nn.BatchNorm{max(1, len(shape) - 2)}d({channels})", f"nn.RMSNorm({shape[-1]})"))
        try:
            made = eval(text).to("meta").eval()  # noqa: S307: our own text
        except (RuntimeError, ValueError, AttributeError):
            return "torch.tanh({x})"
        setattr(self.members, name, made)
        self.module.append(f"self.{name} = {text}")
        return f"self.{name}({{x}})"

    def convolution(self, shape) -> str:
        chance, channels, space = self.chance, shape[1], len(shape) - 2
        groups = chance.choice([g for g in (1, 1, 2, 3, channels) if g > 0 and channels % g == 0])
        out = groups * chance.choice((1, 2, 3, 5, 8, 17, 26))
        each = lambda choices: tuple(chance.choice(choices) for _ in range(space))  # noqa: E731: a name for what every dimension draws
        sizes, strides, paddings, dilations = each((1, 2, 3, 3, 5)), each((1, 1, 2, 3)), each((0, 0, 1, 2)), each((1, 1, 1, 2))
        if chance.random() < 0.25:  # what is often done otherwise than other windows
            groups, out, sizes, strides, dilations = 1, chance.choice((8, 13)), (3,) * space, (1,) * space, (1,) * space
            if min(shape[2:]) < 5:  # nothing is left of small images otherwise, which the meta device lets pass
                paddings = (1,) * space
        common = f"({channels}, {out}, {sizes}, stride={strides}, padding={paddings}, dilation={dilations}, groups={groups}, bias={chance.random() < 0.7}"
        if chance.random() < 0.35:
            more = tuple(chance.randrange(max(stride, dilation)) for stride, dilation in zip(strides, dilations))
            return f"nn.ConvTranspose{space}d{common}, output_padding={more})"
        return f"nn.Conv{space}d{common})"

    def text(self) -> str:
        used = [name for name, _ in self.inputs]
        outputs = [name for name in self.live if name.startswith("t")][-1:] or [used[0]]
        if len(self.lines) > 2 and self.chance.random() < 0.15:
            outputs.append(self.chance.choice([line.split(" ")[0] for line in self.lines[:-1]]))
        result = outputs[0] if self.lines else f"{outputs[0]} * 2"
        if len(outputs) == 2:
            result += f", {outputs[1]}"
        init = "".join(f"        {line}\n" for line in self.module)
        body = "".join(f"        {line}\n" for line in self.lines)
        tensors = ", ".join(f"torch.randn({list(shape)})" for _, shape in self.inputs)
        return (f"import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{init}\n"
                f"    def forward(self, {', '.join(used)}):\n{body}        return {result}\n\n\ndef get_inputs():\n    return [{tensors}]\n\n\ndef get_init_inputs():\n    return []\n")


class Stack(Graph):
    """Blocks of a few layers, most of them equal, one after the other: what is cut into sub-problems."""

    def __init__(self, chance: random.Random):
        self.repeats = chance.randint(2, 5)
        self.channels = chance.choice((3, 4, 8, 17))
        self.image = chance.random() < 0.5
        super().__init__(chance)

    def shape(self) -> tuple[int, ...]:
        if self.image:
            return (self.chance.choice((1, 2)), self.channels, self.chance.choice((5, 8)), self.chance.choice((6, 9)))
        return (self.chance.choice((2, 5)), self.chance.choice((3, 8)), self.channels)

    def grow(self) -> None:
        if self.lines:
            return
        chance, first = self.chance, self.inputs[0][0]
        layers = [(self.layer(), chance.choice(("F.relu({x})", "torch.tanh({x})", "F.gelu({x})"))) for _ in range(chance.randint(2, 3))]
        residual, joined = chance.random() < 0.5, chance.random() < 0.3
        for _ in range(self.repeats):
            before = first
            for layer, activation in layers:
                for text in (self.added(layer), activation):
                    self.take(text.format(x=first))
                    first = f"t{len(self.lines) - 1}"
            if residual and self.take(f"{before} + {first}"):
                first = f"t{len(self.lines) - 1}"
        if joined and self.take(f"torch.cat([{self.inputs[0][0]}, {first}], 1)"):
            first = f"t{len(self.lines) - 1}"

    def layer(self) -> str:
        if self.image:
            size = self.chance.choice((1, 3, 5))
            groups = self.chance.choice((1, self.channels))
            return f"nn.Conv2d({self.channels}, {self.channels}, {size}, padding={size // 2}, groups={groups}, bias={self.chance.random() < 0.5})"
        return f"nn.Linear({self.channels}, {self.channels}, bias={self.chance.random() < 0.5})"

    def added(self, text: str) -> str:
        name = f"m{len(self.module)}"
        setattr(self.members, name, eval(text).to("meta").eval())  # noqa: S307: our own text
        self.module.append(f"self.{name} = {text}")
        return f"self.{name}({{x}})"


def problem_of(seed: int) -> Graph:
    return (Stack if seed % 8 == 0 else Graph)(random.Random(seed))


def main() -> None:
    count, seed, folder = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # of empty tensors
    for i in range(count):
        torch.manual_seed(0)
        (folder / f"graph_{seed + i}.py").write_text(problem_of(seed + i).text())


if __name__ == "__main__":
    main()
