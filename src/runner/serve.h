// The whole life of a runner: map the buffers, close the doors, load the kernel, answer calls. It never sees a reference
// and never judges.
#pragma once

namespace kw::runner {

int serve();

}  // namespace kw::runner
