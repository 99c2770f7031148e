#include "opencl/compile.h"

int main(int count, char** words) { return kw::opencl::run_compiler({words + 1, words + count}); }
