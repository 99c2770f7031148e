// Text of PTX to a ParsedModule. What isn't PTX is an error that names the line and what was expected.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "vgpu/ptx_module.h"

namespace kw::vgpu {

Result<std::unique_ptr<ParsedModule>> parse_ptx(std::string text);

}  // namespace kw::vgpu
