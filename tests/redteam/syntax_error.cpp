// Is not C++.
#include "problem.h"

def kw_kernel(x, out):
    out[:] = x.relu() * 2.5
