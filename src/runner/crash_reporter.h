// Tells the evaluator about a fatal signal: its number, the faulting address and the program counter. It runs inside a
// process that hostile code may have broken, so the evaluator treats what it says as a hint, never as a verdict.
#pragma once

namespace kw::runner {

// For the calling thread and its signal stack; the handlers are the process's.
void install_crash_reporter(int control_descriptor);
void give_thread_a_signal_stack();

// Where the kernel's object was loaded, so that program counters can be told as offsets into it.
void set_object_base(const void* base);

}  // namespace kw::runner
