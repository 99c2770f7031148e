#include "problem/smaller_problem.h"

#include <fmt/format.h>

namespace kw {

Result<SmallerProblem> smaller_problem(OracleClient& oracle, const std::string& operation, const fs::path& file, Json limits,
                                       const fs::path& target) {
  limits["problem"] = fs::absolute(file).string();
  KW_TRY(const Json answer, oracle.ask(operation, limits));
  std::string source;
  KW_TRY(SmallerProblem smaller, read_fields("the oracle's answer", [&] {
           if (!answer.at("source").is_null()) answer.at("source").get_to(source);
           return SmallerProblem{file, answer.at("changes").get<std::string>(), answer.at("reason").get<std::string>()};
         }));
  if (source.empty()) {
    smaller.changes.clear();
    return smaller;
  }
  KW_CHECK(make_folders(target.parent_path()));
  KW_CHECK(write_file_atomically(target, source));
  smaller.file = target;
  return smaller;
}

Result<ReducedProblem> reduced_problem(const ProblemSource& whole, double work, OracleClient& oracle) {
  const fs::path folder = whole.cache_folder / fmt::format("reduced-{:.0f}", work);
  const fs::path file = folder / fs::path(whole.description.file).filename();
  const fs::path known = folder / "words.txt";
  ReducedProblem reduced;
  if (const auto words = read_file(known); words && fs::exists(file)) {
    reduced.words = *words;
  } else {
    KW_TRY(const SmallerProblem smaller, smaller_problem(oracle, "reduce", whole.description.file, {{"work", work}}, file));
    if (!smaller.is_smaller()) return ReducedProblem{std::nullopt, smaller.why_not};
    reduced.words = smaller.changes;
    KW_CHECK(write_file_atomically(known, reduced.words));
  }
  KW_TRY(reduced.source, load_problem(file, oracle));
  return reduced;
}

}  // namespace kw
