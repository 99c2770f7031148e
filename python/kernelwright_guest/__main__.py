"""`python -m kernelwright_guest build FOLDER`, or `serve` with the runner's descriptors."""

import sys

if sys.argv[1] == "build":
    from .build import main

    main(sys.argv[2])
else:
    import json
    import os

    _SPEC = 4
    if not json.loads(os.pread(_SPEC, os.fstat(_SPEC).st_size, 0))["python"]["allow_torch"]:
        sys.modules["numpy"] = None  # PyTorch imports it where it is found, and a BLAS with it
    from .serve import serve

    serve()
