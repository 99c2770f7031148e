// One element a thread in TileLang: takes every stage; what an element needs, its thread computes.
#include <fmt/format.h>

#include "playbook/py_stage.h"

namespace kw {
namespace {

bool write_tilelang_flat(PyWriter& writer, const Stage& stage) {
  return write_flat(writer, stage, [](PyKernel& kernel, std::int64_t count) -> FlatPlace {
    kernel.grid = {ceil_div(count, kernel.threads)};
    kernel.e.line(fmt::format("i = bx * ({}) + T.get_thread_binding()", kernel.threads));
    kernel.e.open(fmt::format("if i < {}:", count));
    return {Affine::variable(kernel.e.position("i", {0, count - 1}, 0)), 1};
  });
}

}  // namespace

const PyFamily tilelang_flat_family{"flat", write_tilelang_flat};

}  // namespace kw
