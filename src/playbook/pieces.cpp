#include "playbook/pieces.h"

#include <cctype>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

namespace kw {

extern const std::string_view kPieceFiles[];  // generated from knowledge/playbook (cmake/EmbedTexts.cmake)
extern const std::size_t kPieceFileCount;
extern const std::string_view kGpuPieceFiles[];  // generated from knowledge/playbook/gpu
extern const std::size_t kGpuPieceFileCount;
extern const std::string_view kOpenClPieceFiles[];  // generated from knowledge/playbook/opencl
extern const std::size_t kOpenClPieceFileCount;

namespace {

struct Piece {
  std::string text;
  std::vector<std::string> needs;
};

struct PieceBook {
  std::map<std::string, Piece> pieces;
  std::map<std::string, std::string> of_identifier;  // kw_exp: exp
};

PieceBook read_book(const std::string_view* files, std::size_t count) {
  PieceBook made;
  const std::string mark = "// piece: ";
  const std::regex defined(
      R"((?:KW_INLINE|KW_DEVICE|typedef|using|constexpr|static inline|struct)[^(;=]*?\b(kw_\w+)\s*(?:\(|=|;|\{|__attribute__))");
  for (std::size_t i = 0; i < count; ++i) {
    std::istringstream lines{std::string(files[i])};
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
}

const PieceBook& piece_book() {
  static const PieceBook book = read_book(kPieceFiles, kPieceFileCount);
  return book;
}

const PieceBook& gpu_book() {
  static const PieceBook book = read_book(kGpuPieceFiles, kGpuPieceFileCount);
  return book;
}

std::set<std::string> identifiers_of(const std::string& text) {
  const std::regex identifier(R"(\bkw_\w+)");
  std::set<std::string> seen;
  for (std::sregex_iterator it(text.begin(), text.end(), identifier), end; it != end; ++it) seen.insert(it->str());
  return seen;
}

void paste_with_needs(const PieceBook& book, const std::string& name, std::set<std::string>& done, std::string& includes,
                      std::string& text) {
  const auto found = book.pieces.find(name);
  if (found == book.pieces.end() || !done.insert(name).second) return;
  for (const auto& need : found->second.needs) paste_with_needs(book, need, done, includes, text);
  const bool include = found->second.text.find("#include") != std::string::npos;
  (include ? includes : text) += found->second.text + (include ? "" : "\n");
}

}  // namespace

std::string paste_pieces(const std::set<std::string>& names) {
  std::set<std::string> done;
  std::string includes;
  std::string text;
  for (const auto& name : names) paste_with_needs(piece_book(), name, done, includes, text);
  return includes + (includes.empty() ? "" : "\n") + text;
}

std::string paste_gpu_pieces(const std::string& body, const std::set<std::string>& preferred) {
  const PieceBook& book = gpu_book();
  std::set<std::string> done;
  std::string includes;
  std::string text;
  for (const auto& name : preferred) {
    paste_with_needs(book, name, done, includes, text);
    const auto dash = name.find('_');  // fast_exp stands for exp, block_tree_join for what defines the same name
    if (name.starts_with("fast_")) done.insert(name.substr(dash + 1));
  }
  const auto seen = identifiers_of(body);
  for (const auto& identifier : seen) {
    const auto piece = book.of_identifier.find(identifier);
    if (piece == book.of_identifier.end() || piece->second.starts_with("fast_") || piece->second.starts_with("block_")) continue;
    paste_with_needs(book, piece->second, done, includes, text);
  }
  // What works on vectors: lane by lane, of functions that are there.
  const bool lanes = seen.contains("kw_vec") || text.find("struct kw_vec") != std::string::npos;
  for (const auto& identifier : seen) {
    const auto piece = book.of_identifier.find(identifier);
    if (!lanes || piece == book.of_identifier.end()) continue;
    const std::string& own = book.pieces.at(piece->second).text;
    const std::regex one(identifier + R"(\((float|T) x\))"), two(identifier + R"(\((float|T) x, (float|T) y\))");
    if (own.find("kw_vec") != std::string::npos) continue;
    if (std::regex_search(own, one)) text += "KW_LANES_1(" + identifier + ")\n";
    if (std::regex_search(own, two)) text += "KW_LANES_2(" + identifier + ")\n";
  }
  return includes + (includes.empty() ? "" : "\n") + text + (text.ends_with(")\n") ? "\n" : "");
}

std::string paste_opencl_pieces(const std::string& body, bool lanes, const std::set<std::string>& overloads) {
  static const PieceBook book = read_book(kOpenClPieceFiles, kOpenClPieceFileCount);
  std::set<std::string> done;
  std::string includes;
  std::string text;
  if (lanes) paste_with_needs(book, "vec", done, includes, text);  // the forms on vectors come after it
  for (const auto& identifier : identifiers_of(body))
    if (const auto piece = book.of_identifier.find(identifier); piece != book.of_identifier.end())
      paste_with_needs(book, piece->second, done, includes, text);
  for (const auto& name : overloads) paste_with_needs(book, name, done, includes, text);
  return text;
}

std::set<std::string> pieces_in_text(const std::string& text, const std::set<std::string>& known, bool vector_maths) {
  std::set<std::string> found;
  const auto& book = piece_book();
  for (const auto& name : identifiers_of(text)) {
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

bool says(const std::string& text, const std::string& word) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || (!in_word(text[at - 1]) && text[at - 1] != '.')) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

}  // namespace kw
