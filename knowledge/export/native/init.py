"""@title@: `Model` is the original module, and uses its kernel wherever that is for what it gets. For inference."""

from . import original
from .kernel_module import KernelModule
from .native import CONTRACT, OPERATOR, UNAVAILABLE, forget_prepared

__all__ = ["Model", "OPERATOR", "UNAVAILABLE", "forget_prepared", "original"]


class Model(KernelModule, original.Model):
    """Takes the original's arguments and its state_dict(). `why_not(...)` says why a call would be left to the original."""

    contract = CONTRACT
    operator = OPERATOR
    unavailable = UNAVAILABLE
