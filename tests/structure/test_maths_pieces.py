"""The pieces of knowledge/playbook that kernels are pasted together from: each compiles with what it says it needs and
nothing else, for every width of vectors and for ARM; the vector maths agrees with libm on this machine's own width."""

import re
import shutil
import subprocess

import pytest
from project import ROOT

FOLDER = ROOT / "knowledge" / "playbook"
PIECE = re.compile(r"^// piece: (\w+) needs:((?: \w+)*)\n", re.MULTILINE)
FLAGS = ["-std=c++20", "-O1", "-fno-math-errno", "-fno-trapping-math", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"]


def pieces_of(text):
    """Name -> (needs, text) of every piece of a file, in its order."""
    parts = PIECE.split(text)
    return {name: (needs.split(), body) for name, needs, body in zip(parts[1::3], parts[2::3], parts[3::3])}


def all_pieces():
    found = {}
    for path in sorted(FOLDER.glob("*.h")):
        for name, piece in pieces_of(path.read_text(encoding="utf-8")).items():
            assert name not in found, f"{path.name}: there are two pieces '{name}'"
            found[name] = piece
    return found


def in_order(name, pieces, taken):
    """What has to be pasted for a piece, needs first, each once."""
    if name in taken:
        return
    for need in pieces[name][0]:
        in_order(need, pieces, taken)
    taken.append(name)


def with_needs(name, pieces):
    taken = []
    in_order(name, pieces, taken)
    return taken


def everything(pieces):
    """A text with every piece and its needs in a namespace of its own: includes stand outside, where kernels have them."""
    lines = []
    for name in pieces:
        body = "".join(pieces[taken][1] for taken in with_needs(name, pieces))
        # A macro is not in a namespace: each piece has to define what it uses.
        macros = sorted(set(re.findall(r"^#define (\w+)", body, re.MULTILINE)))
        body = "\n".join(line for line in body.split("\n") if not line.startswith("#include"))
        lines += [f"namespace piece_{name} {{", body, "}", *(f"#undef {macro}" for macro in macros)]
    return "\n".join(lines) + "\n"


def problem_types():
    """What problem.h, which every kernel begins with, has before the problem's own tensors."""
    writer = (ROOT / "src/dsl/problem_header.cpp").read_text(encoding="utf-8")
    found = re.search(r'kTypes = R"\(#pragma once\n(.*?)\)";', writer, re.DOTALL)
    assert found and "struct kw_bf16" in found[1], "the types of problem.h were not found"
    return found[1]


def includes(pieces):
    body = "".join(text for _, text in pieces.values())
    standard = sorted(set(re.findall(r"^#include <(\w+)>$", body, re.MULTILINE)))
    return problem_types() + "".join(f"#include <{name}>\n" for name in standard) + pieces["intrinsics"][1]


def compile_text(command, text, tmp_path):
    source = tmp_path / "pieces.cpp"
    source.write_text(text, encoding="utf-8")
    return subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=120)


def test_needs_name_pieces_and_are_no_circle():
    pieces = all_pieces()
    assert len(pieces) > 60, "the pieces were not found: has their form changed?"
    unknown = [f"{name} needs {need}" for name, (needs, _) in pieces.items() for need in needs if need not in pieces]
    assert not unknown, "\n".join(unknown)
    state = {}

    def visit(name):
        assert state.get(name) != "open", f"'{name}' needs itself"
        if state.get(name) is None:
            state[name] = "open"
            for need in pieces[name][0]:
                visit(need)
            state[name] = "done"

    for name in pieces:
        visit(name)


def test_pieces_include_only_standard_headers():
    wrong = [f"{name}: {line}" for name, (_, text) in all_pieces().items()
             for line in re.findall(r'^#include ".*', text, re.MULTILINE)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("isa", ["-march=native", "-mavx2", "-msse2", "-mavx512f"])
def test_every_piece_compiles_with_its_needs(isa, tmp_path):
    pieces = all_pieces()
    text = includes(pieces) + everything(pieces)
    done = compile_text(["g++", *FLAGS, isa, "-fsyntax-only"], text, tmp_path)
    assert done.returncode == 0, done.stderr[:4000]


def test_a_piece_with_a_need_missing_does_not_compile(tmp_path):
    pieces = all_pieces()
    pieces["exp"] = ([need for need in pieces["exp"][0] if need != "exp_parts"], pieces["exp"][1])
    pieces = {name: pieces[name] for name in [*with_needs("exp", pieces), "intrinsics"]}
    done = compile_text(["g++", *FLAGS, "-fsyntax-only"], includes(pieces) + everything(pieces), tmp_path)
    assert done.returncode != 0 and "kw_split_exp" in done.stderr


def test_every_piece_compiles_for_arm(tmp_path):
    clang = shutil.which("clang++")
    if clang is None:
        pytest.skip("there is no clang++ to compile for another machine with")
    # Its C library is not here: this machine's headers serve for the few declarations that the pieces use.
    here = subprocess.run(["g++", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "gnu").mkdir()
    (tmp_path / "gnu" / "stubs-32.h").touch()  # for any machine that is not this one
    folders = [str(tmp_path), *cpp_headers(here), f"/usr/include/{here}"]
    command = [clang, *FLAGS, "--target=aarch64-linux-gnu", *(f"-isystem{folder}" for folder in folders), "-S", "-o", "/dev/null"]
    pieces = all_pieces()
    done = compile_text(command, includes(pieces) + everything(pieces), tmp_path)
    assert done.returncode == 0, done.stderr[:4000]


def cpp_headers(multiarch):
    """Where g++ has the C++ library's headers."""
    version = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    return [f"/usr/include/c++/{version}", f"/usr/include/{multiarch}/c++/{version}"]


# Both overloads of each function on the same numbers, on this machine's own vectors with what the evaluator compiles with.
AGREEMENT = """
#include <cstdio>
template <class Vector, class Scalar>
int far_apart(const char* name, Vector vector, Scalar scalar, float low, float high, double bound) {
  double worst = 0;
  for (int i = 0; i < 20000; i += kw_lanes) {
    kw_vec x{};
    for (int lane = 0; lane < kw_lanes; ++lane) x[lane] = low + (high - low) * (i + lane) / 20000;
    const kw_vec y = vector(x);
    for (int lane = 0; lane < kw_lanes; ++lane) {
      const double expected = scalar((double)x[lane]);
      const double off = std::abs(y[lane] - expected) / (std::abs(expected) * 6e-8 + 1e-37);
      if (!(off <= worst)) worst = off;
    }
  }
  if (!(worst <= bound)) std::printf("%s: %g half units off\\n", name, worst);
  return !(worst <= bound);
}
#define KW_APART(name, low, high, bound) \\
  far_apart(#name, [](kw_vec x) { return kw_##name(x); }, [](double x) { return kw_##name(x); }, low, high, bound)
int main() { return @calls@; }
"""
RANGES = {"exp": (-80, 80, 4), "exp2": (-120, 120, 4), "expm1": (-20, 80, 4), "log": (1e-3, 50, 4), "log2": (1e-3, 50, 4),
          "log1p": (-0.9, 50, 4), "softplus": (-50, 50, 4), "tanh": (-10, 10, 4), "sigmoid": (-80, 80, 5), "silu": (-80, 80, 6),
          "mish": (-80, 80, 8), "erf": (-5, 5, 4), "erfc": (-5, 5, 16), "gelu": (-3, 9, 24), "gelu_tanh": (-3, 9, 24),
          "sqrt": (0, 50, 2), "rsqrt": (0.1, 50, 4), "floor": (-9, 9, 0), "ceil": (-9, 9, 0), "round": (-9, 9, 0), "abs": (-9, 9, 0)}


def test_vectors_of_this_machine_agree_with_libm(tmp_path):
    pieces, taken = all_pieces(), []
    for name in RANGES:
        in_order(name, pieces, taken)
        in_order("scalar_" + name, pieces, taken)
    calls = " + ".join(f"KW_APART({name}, {low}, {high}, {bound})" for name, (low, high, bound) in RANGES.items())
    text = "".join(pieces[name][1] for name in taken) + AGREEMENT.replace("@calls@", calls)
    program = tmp_path / "agreement"
    flags = ["-std=c++20", "-O2", "-march=native", "-fno-math-errno", "-fno-trapping-math"]
    done = compile_text(["g++", *flags, "-o", str(program)], text, tmp_path)
    assert done.returncode == 0, done.stderr[:4000]
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout
