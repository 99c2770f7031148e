"""`python -m kernelwright_guest build FOLDER`, or `serve` with the runner's descriptors."""

import sys

if sys.argv[1] == "build":
    from .build import main

    main(sys.argv[2])
else:
    from .serve import serve

    serve()
