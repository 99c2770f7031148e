// Returns without computing.
#include "problem.h"

extern "C" void kw_kernel(const float*, float*) {}
