// The command line: reads arguments, calls the rooms, prints records. Decides nothing itself.
#pragma once

namespace kw {

// The exit status: 0 passed, 1 judged and not passed, 2 bad usage or input, 3 the evaluator itself failed.
int run_cli(int argc, char** argv);

}  // namespace kw
