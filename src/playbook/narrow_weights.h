// Weights that lie in memory in fewer bytes than floats have: quantised ones, which forward() takes apart again, and those of 16
// bits. Products and convolutions read them as they are, tile by tile: a copy in floats would be two or four times the memory, and
// what matters for few rows is how many bytes are read.
#pragma once

#include "playbook/value.h"

namespace kw {

// Whether what the value is made of takes at most three quarters of its own memory as floats, most of it in elements of one or two
// bytes.
bool lies_narrow(const Graph& graph, ValueId value);

}  // namespace kw
