"""@title@: `Model` is the original module, and uses its kernel wherever that is for what it gets. For inference."""

from . import original
from .kernel_module import FallbackWarning, KernelModule, KernelNotUsed
from .native import CONTRACT, OPERATOR, UNAVAILABLE, forget_prepared

__all__ = ["FallbackWarning", "KernelNotUsed", "Model", "OPERATOR", "UNAVAILABLE", "forget_prepared", "original"]


class Model(KernelModule, original.Model):
    """Takes the original's arguments and its state_dict(), and beside them backend="kernel" or "original", and strict=True for an error where the original
    would compute instead of the kernel. `why_not(...)` says why it would."""

    contract = CONTRACT
    operator = OPERATOR
    kernel_name = "@name@"
    unavailable = UNAVAILABLE
