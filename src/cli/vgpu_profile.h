// What a program under the virtual GPU reported, read back and put into words: counters by kernel and by source line, and the
// estimate.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "vgpu/estimate.h"
#include "vgpu/report_json.h"
#include "vgpu/toolkit.h"

namespace kw {

// A report that was never written is an empty one: the program did not use the GPU.
Result<vgpu::ProgramReport> read_program_report(const fs::path& file);

// All launches of a kernel with the same shape, together.
Json profile_json(const vgpu::GpuSheet& sheet, const vgpu::ProgramReport& report);
std::string profile_text(const vgpu::GpuSheet& sheet, const vgpu::ProgramReport& report,
                         const std::map<std::string, vgpu::PtxasFacts>& facts, const fs::path& source, int most_lines);

}  // namespace kw
