// The pages that show runs: one page code, as readable files in src/report/page, for the report's file and for the viewer. All that
// a kernel, a model or a problem wrote reaches a page as JSON that no browser can take for markup.
#pragma once

#include <string>
#include <string_view>

#include "record/suite.h"
#include "report/run_view.h"

namespace kw {

// One file with everything in it: it asks for nothing else, and runs no script but its own.
std::string report_page(const RunView& view);

// The same for a suite; the kernels that it links to lie beside it.
std::string suite_page(const SuiteRecord& suite);

// The frame that the viewer serves for each of its pages; style, script and data are asked for by it.
std::string viewer_page();
const std::string& page_style();
const std::string& page_script();

// For text and attributes of HTML.
std::string html_escaped(std::string_view text);
// JSON for the inside of a script element.
std::string json_for_script(const Json& json);

}  // namespace kw
