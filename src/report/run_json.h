// A run as the JSON that its page is drawn from: what is shown at once, and apart from it the long texts that are shown on a click.
#pragma once

#include "base/json.h"
#include "report/run_view.h"

namespace kw {

// Without sources and without what models were told and answered.
Json page_json(const RunView& view);

// {"sources": [...], "source_of": [...], "exchanges": {id: {"messages", "answer"}}}: equal sources once, with the position of each
// individual's own.
Json texts_json(const RunView& view);

// One line of the list of runs.
Json listing_json(const RunSummary& summary, bool under_way);

// A file's path as a person would type it: from the project's folder where it is below that.
std::string shown_path(const std::string& file);

}  // namespace kw
