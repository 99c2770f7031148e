// Any text through the loader of PTX, and random valid programs through a launch.
#include "ptx_programs.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string complaint = kw::vgpu::fuzz::try_ptx(data, size);
  if (complaint.empty()) return 0;
  std::fprintf(stderr, "%s\n", complaint.c_str());
  std::abort();
}
