// The instructions that PyTorch's oneDNN may use here. Some processors advertise instructions that they do not run (AMX in virtual
// machines), and PyTorch's products of bfloat16 die of them. What was found by trying (problem/torch_products.h) is kept beside the
// machine's ceilings; this reads it, and starts nothing.
#pragma once

#include <optional>

#include "base/files.h"

namespace kw {

inline constexpr const char* kOneDnnVariable = "ONEDNN_MAX_CPU_ISA";

struct OneDnnRecord {
  std::string torch;                 // the version that was tried
  std::string limit;                 // what $ONEDNN_MAX_CPU_ISA has to be; empty: nothing
  std::vector<std::string> running;  // the types whose products run under that limit
  std::string died_of;  // what ended the first one that does not run without it: "SIGILL in bfloat16"; empty: nothing did
};

// Where it is kept for this processor, and what is kept there; nothing where there is no good file.
fs::path onednn_record_file();
std::optional<OneDnnRecord> onednn_record();
Status keep_onednn_record(const OneDnnRecord& record);

// The user's own $ONEDNN_MAX_CPU_ISA, else what is kept; empty: as oneDNN chooses.
std::string onednn_limit();

// A word of /proc/cpuinfo's flags.
bool processor_advertises(std::string_view flag);

}  // namespace kw
