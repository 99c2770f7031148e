// What can be seen from outside of the process that runs a kernel.
#pragma once

#include <sys/types.h>

namespace kw {

// Whether every thread of it stands still.
bool is_stopped(pid_t pid);

// Whether it computes although nothing was asked of it.
bool is_busy_unasked(pid_t pid);

}  // namespace kw
