"""The oracle: loads problems, makes inputs, computes references, times the PyTorch baselines.

It never sees a candidate kernel. docs/oracle-protocol.md is its contract.
"""

PROTOCOL = 1
