"""The compile step of DSLs that are Python: `launch(...)` of a kernel's module is run once, on tensors without contents, and what it
launches is written down. What judges and times the kernel afterwards is the recording; no Python sees data.
"""
