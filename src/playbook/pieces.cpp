#include "playbook/pieces.h"

#include <map>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

namespace kw {

extern const std::string_view kPieceFiles[];  // generated from knowledge/playbook (cmake/EmbedTexts.cmake)
extern const std::size_t kPieceFileCount;

namespace {

struct Piece {
  std::string text;
  std::vector<std::string> needs;
};

struct PieceBook {
  std::map<std::string, Piece> pieces;
  std::map<std::string, std::string> of_identifier;  // kw_exp: exp
};

const PieceBook& piece_book() {
  static const PieceBook book = [] {
    PieceBook made;
    const std::string mark = "// piece: ";
    const std::regex defined(
        R"((?:KW_INLINE|typedef|constexpr|static inline|struct)[^(;=]*?\b(kw_\w+)\s*(?:\(|=|;|\{|__attribute__))");
    for (std::size_t i = 0; i < kPieceFileCount; ++i) {
      std::istringstream lines{std::string(kPieceFiles[i])};
      Piece* piece = nullptr;
      std::string name;
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(mark)) {
          std::istringstream words(line.substr(mark.size()));
          std::string word;
          words >> name >> word;
          piece = &made.pieces[name];
          while (words >> word) piece->needs.push_back(word);
          continue;
        }
        if (piece == nullptr) continue;
        piece->text += line + "\n";
        std::smatch match;
        if (std::regex_search(line, match, defined)) made.of_identifier.emplace(match[1], name);
      }
    }
    for (auto& [name, piece] : made.pieces)
      while (piece.text.ends_with("\n\n")) piece.text.pop_back();
    return made;
  }();
  return book;
}

void paste_with_needs(const std::string& name, std::set<std::string>& done, std::string& includes, std::string& text) {
  const auto found = piece_book().pieces.find(name);
  if (found == piece_book().pieces.end() || !done.insert(name).second) return;
  for (const auto& need : found->second.needs) paste_with_needs(need, done, includes, text);
  const bool include = found->second.text.find("#include") != std::string::npos;
  (include ? includes : text) += found->second.text + (include ? "" : "\n");
}

}  // namespace

std::string paste_pieces(const std::set<std::string>& names) {
  std::set<std::string> done;
  std::string includes;
  std::string text;
  for (const auto& name : names) paste_with_needs(name, done, includes, text);
  return includes + (includes.empty() ? "" : "\n") + text;
}

std::set<std::string> pieces_in_text(const std::string& text, const std::set<std::string>& known, bool vector_maths) {
  std::set<std::string> found;
  const auto& book = piece_book();
  const std::regex identifier(R"(\bkw_\w+)");
  std::set<std::string> seen;
  for (std::sregex_iterator it(text.begin(), text.end(), identifier), end; it != end; ++it) seen.insert(it->str());
  for (const auto& name : seen) {
    const auto piece = book.of_identifier.find(name);
    if (piece == book.of_identifier.end()) continue;
    std::string base = piece->second;
    if (base.starts_with("scalar_")) base = base.substr(7);
    if (base.starts_with("each_")) base = base.substr(5);
    if (known.contains(base) || known.contains("scalar_" + base) || known.contains("each_" + base)) continue;
    const bool lane_by_lane = !vector_maths && book.pieces.contains("each_" + base);
    found.insert(lane_by_lane ? "each_" + base : book.pieces.contains(base) ? base : piece->second);
  }
  return found;
}

}  // namespace kw
