// How the measuring loops are compiled, in every kind of build: a ceiling from an unoptimised or instrumented loop
// would be too low, and honest kernels would then look impossible.
#pragma once

#if defined(__clang__)
#define KW_MEASURED_LOOP __attribute__((noinline, no_sanitize("address", "undefined", "thread")))
#else
#define KW_MEASURED_LOOP __attribute__((noinline, optimize("O3"), no_sanitize("address", "undefined", "thread")))
#endif

#define KW_TARGET(isa) __attribute__((target(isa)))
