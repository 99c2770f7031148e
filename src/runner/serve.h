// The whole life of a runner: map the buffers, close the doors, load the kernel, answer calls. It never sees a reference
// and never judges.
#pragma once

namespace kw::runner {

int serve();

// The GPUs that a CUDA runtime sees, as JSON on standard output; or why there are none, on standard error. In a process of its own,
// because a driver that is broken takes its process with it.
int list_gpus(const char* library);

}  // namespace kw::runner
