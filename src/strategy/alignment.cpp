#include "strategy/alignment.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "strategy/code_lines.h"
#include "strategy/ptx_facts.h"

namespace kw {
namespace {

constexpr std::size_t kLongestLine = 2000;  // std::regex recurses over a line

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  text = text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  constexpr std::size_t kShown = 40;
  return text.size() > kShown ? text.substr(0, kShown - 3) + "..." : text;
}

// "no KW_MR" of a pattern that is a plain word; other patterns are shown as they are.
std::string missing_text(const std::string& pattern) {
  std::string word = pattern;
  for (std::size_t at = word.find("\\b"); at != std::string::npos; at = word.find("\\b")) word.erase(at, 2);
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return plain ? "no " + word : fmt::format("nothing like /{}/", trimmed(pattern));
}

// Looks for patterns; every pattern is looked for once in each place, however many strategies ask.
class EvidenceSearch {
 public:
  explicit EvidenceSearch(const CodeView& code)
      : code_(code), source_(code_lines(code.source)), facts_(ptx_facts(code.ptx_lines)) {}

  // What matched first; empty when nothing did.
  const std::optional<std::string>& first_match(const std::string& where, const std::string& pattern) {
    const auto [found, is_new] = known_.try_emplace({where, pattern});
    if (is_new) found->second = search(lines_of(where), pattern);
    return found->second;
  }

  // Evidence that something is absent from loops that were not found would say nothing.
  [[nodiscard]] bool can_look(const EvidenceCheck& check) const {
    if (check.where == "source") return true;
    if (is_in_ptx(check)) return !code_.ptx_lines.empty();
    if (!code_.has_assembly) return false;
    return check.where == "assembly" || !check.absent || !code_.hot_loop_lines.empty();
  }
  [[nodiscard]] bool concerns(const EvidenceCheck& check) const { return check.isa.empty() || check.isa == code_.isa; }
  [[nodiscard]] std::string place(const EvidenceCheck& check) const {
    if (check.where == "hot_loop" && !code_.hot_loop_lines.empty()) return "the hot loop";
    return check.where == "source" ? "the source" : is_in_ptx(check) ? "the PTX" : "the assembly";
  }

 private:
  static bool is_in_ptx(const EvidenceCheck& check) { return check.where == "ptx" || check.where == "ptx_facts"; }
  [[nodiscard]] const std::vector<std::string>& lines_of(const std::string& where) const {
    if (where == "source") return source_;
    if (where == "ptx") return code_.ptx_lines;
    if (where == "ptx_facts") return facts_;
    return where == "hot_loop" ? loops() : code_.assembly_lines;
  }
  [[nodiscard]] const std::vector<std::string>& loops() const {
    return code_.hot_loop_lines.empty() ? code_.assembly_lines : code_.hot_loop_lines;
  }

  static std::optional<std::string> search(const std::vector<std::string>& lines, const std::string& pattern) {
    const std::regex wanted(pattern, std::regex::ECMAScript | std::regex::optimize);
    for (const std::string& line : lines) {
      std::smatch match;
      const std::string shortened = line.size() > kLongestLine ? line.substr(0, kLongestLine) : std::string();
      if (std::regex_search(shortened.empty() ? line : shortened, match, wanted)) return trimmed(match.str());
    }
    return std::nullopt;
  }

  const CodeView& code_;
  std::vector<std::string> source_, facts_;
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> known_;
};

// What the evidence of a strategy says, whoever claims it.
struct EvidenceFinding {
  enum class Kind { there, missing, undecided } kind = Kind::undecided;
  std::string text;
};

EvidenceFinding look_for(const Strategy& strategy, EvidenceSearch& search) {
  std::string seen;
  bool blind = false, decided = false;
  for (const EvidenceCheck& check : strategy.evidence) {
    if (!search.concerns(check)) continue;
    if (!search.can_look(check)) {
      blind = true;
      continue;
    }
    const auto& match = search.first_match(check.where, check.pattern);
    if (match.has_value() == check.absent) {
      const std::string what = match ? *match : missing_text(check.pattern);
      return {EvidenceFinding::Kind::missing, fmt::format("{} in {}", what, search.place(check))};
    }
    decided = true;
    // The machine's code says more than the source, and stands later in a record.
    if (match) seen = fmt::format("{} in {}", *match, search.place(check));
  }
  const std::string unseen = strategy.target == "gpu" ? "no PTX to look at" : "no assembly to look at";
  if (blind) return {EvidenceFinding::Kind::undecided, seen.empty() ? unseen : seen + "; " + unseen};
  if (!decided) return {EvidenceFinding::Kind::undecided, "nothing in the code would show it"};
  return {EvidenceFinding::Kind::there, seen.empty() ? "nothing speaks against it" : seen};
}

// Everything that would show `strategy` is also what shows a claim: it need not be there for a reason of its own.
bool explained_by(const Strategy& claim, const Strategy& strategy) {
  return std::all_of(strategy.evidence.begin(), strategy.evidence.end(), [&](const EvidenceCheck& check) {
    return check.absent || std::any_of(claim.evidence.begin(), claim.evidence.end(), [&](const EvidenceCheck& other) {
             return !other.absent && other.where == check.where && other.pattern == check.pattern;
           });
  });
}

}  // namespace

std::vector<AlignedStrategy> align(const StrategyPool& pool, const CodeView& code, const std::vector<std::string>& claims,
                                   const std::vector<std::string>& considered) {
  EvidenceSearch search(code);
  std::vector<AlignedStrategy> aligned;
  const std::set<std::string> claimed(claims.begin(), claims.end());
  std::vector<std::string> standing;
  for (const std::string& id : claimed) {
    const Strategy* strategy = pool.find(id);
    if (!strategy || strategy->target != code.target) {
      aligned.push_back({id, Presence::struck, strategy ? "it is for " + strategy->target : "no strategy has this id"});
      continue;
    }
    const EvidenceFinding finding = look_for(*strategy, search);
    const Presence presence = finding.kind == EvidenceFinding::Kind::there     ? Presence::present
                              : finding.kind == EvidenceFinding::Kind::missing ? Presence::struck
                                                                               : Presence::unknown;
    if (presence != Presence::struck) standing.push_back(id);
    aligned.push_back({id, presence, finding.text});
  }
  const std::set<std::string> others(considered.begin(), considered.end());
  for (const std::string& id : others) {
    const Strategy* strategy = pool.find(id);
    if (!strategy || strategy->target != code.target || !strategy->telling || claimed.count(id) != 0) continue;
    const bool spoken_for = std::any_of(standing.begin(), standing.end(), [&](const std::string& other) {
      return pool.conflict(id, other) || explained_by(*pool.find(other), *strategy);
    });
    if (spoken_for) continue;
    const EvidenceFinding finding = look_for(*strategy, search);
    if (finding.kind == EvidenceFinding::Kind::there) aligned.push_back({id, Presence::added, finding.text});
  }
  return aligned;
}

}  // namespace kw
