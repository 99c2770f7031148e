// Asks the shell from the host's side.
#include <cstdlib>

#include "problem.h"

extern "C" void kw_kernel(const float*, float*, cudaStream_t) { std::system("true"); }
