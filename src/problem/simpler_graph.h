// A problem's graph in simpler operations: PyTorch's own rules take apart what a reader of graphs does not know.
#pragma once

#include <functional>
#include <set>

#include "problem/problem_source.h"

namespace kw {

// Has operations taken apart that `unread` names, until it names none or PyTorch has no rule for what is left: then the graph
// stays as it was, and so it does where the oracle fails. What is found is kept beside the problem's tensors.
void simplify_graph(ProblemSource& source, OracleClient& oracle,
                    const std::function<std::set<std::string>(const ProblemDescription&)>& unread);

}  // namespace kw
