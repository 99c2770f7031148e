// The kernel's own text after what it is written against. Compiled with the flags that it was verified with.
#include "names.h"
#include "problem.h"

#include "kernel.cpp"
