@problem_text@

# ---------------------------------------------------------------------------------------------------------------------------------
# Above: the problem as it is. Below: ModelNew, the same module with a kernel of its own, by Kernelwright.
@facts@
# It has Model's arguments and state_dict(). What the kernel is not for (other shapes, gradients, training) is left to Model's forward(), with a warning;
# ModelNew(..., strict=True) raises an error instead.

import json as _json

from torch.utils.cpp_extension import load_inline as _load_inline

@kernel_module@

_KERNEL = @kernel_literal@

# The operator's checks and PyTorch's headers stand before the kernel, which may define what it likes.
_OPERATOR = @operator_literal@

_CONTRACT = Contract(_json.loads(@contract_literal@))
_load_inline(name="@namespace@", cpp_sources=[_OPERATOR + _KERNEL], extra_cflags=@inline_flags@, extra_ldflags=["-fopenmp", "-Wl,-Bsymbolic"],
             is_python_module=False, no_implicit_headers=True)


def _fake(*_arguments):
    made = _CONTRACT.made_outputs()
    return made[0] if len(made) == 1 else tuple(made)


try:
    torch.library.register_fake("@namespace@::forward", _fake)
except RuntimeError:
    pass  # this file was loaded before in this process: it is there already


class ModelNew(KernelModule, Model):
    contract = _CONTRACT
    operator = torch.ops.@namespace@.forward.default
    kernel_name = "@name@"
