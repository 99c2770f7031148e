#include "problem/simpler_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"

namespace kw {
namespace {

constexpr int kMostRounds = 6;  // a rule's own operations may need rules in turn

Result<Json> graph_without(const ProblemSource& source, const std::set<std::string>& operations, OracleClient& oracle) {
  const std::string names = fmt::format("{}", fmt::join(operations, " "));
  const fs::path kept = source.cache_folder / fmt::format("graph-{}.json", key_of(names).substr(0, 16));
  if (const auto text = read_file(kept))
    if (auto graph = parse_json(*text, kept.string())) return graph;
  KW_TRY(const Json answer, oracle.ask("decompose", {{"problem", source.description.file}, {"operations", operations}}));
  KW_TRY(Json graph, read_fields("the oracle's answer", [&] { return answer.at("graph"); }));
  KW_CHECK(write_file_atomically(kept, graph.dump()));
  return graph;
}

}  // namespace

void simplify_graph(ProblemSource& source, OracleClient& oracle,
                    const std::function<std::set<std::string>(const ProblemDescription&)>& unread) {
  std::set<std::string> more = unread(source.description);
  if (more.empty()) return;
  std::set<std::string> apart;
  ProblemDescription simpler = source.description;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::size_t before = apart.size();
    apart.insert(more.begin(), more.end());
    if (apart.size() == before) return;  // there is no rule for it
    auto graph = graph_without(source, apart, oracle);
    if (!graph || graph->is_null()) return;
    simpler.graph = std::move(*graph);
    more = unread(simpler);
    if (more.empty()) {
      source.description.graph = std::move(simpler.graph);
      return;
    }
  }
}

}  // namespace kw
