// What PTX says about how threads share work, where no single line says it: followed from instruction to instruction.
#pragma once

#include <string>
#include <vector>

namespace kw {

// Words that evidence of the kind `ptx_facts` names:
// rows_stay_in_warps: in every kernel that exchanges values by shuffles, nothing passes from one warp to another (no barrier among
//   several warps, no atomic), and where warps store to places of their own they also load from places of their own. So what a
//   shuffle joins is whole within a warp.
// `lines` are ptx_code_lines.
std::vector<std::string> ptx_facts(const std::vector<std::string>& lines);

}  // namespace kw
