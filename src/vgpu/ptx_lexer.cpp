#include "vgpu/ptx_lexer.h"

#include <fmt/format.h>

#include <cctype>

namespace kw::vgpu {
namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }
bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4);
    for (;;) {
      KW_CHECK(skip_blanks());
      if (at_ >= text_.size()) break;
      KW_TRY(Token token, next());
      tokens.push_back(token);
    }
    tokens.push_back({Token::Kind::end, "the end of the text", line_});
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Status skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\0') {
        ++at_;  // a NUL ends texts that are embedded in objects
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '/' && peek(1) == '*') {
        const int opened = line_;
        at_ += 2;
        while (at_ < text_.size() && !(text_[at_] == '*' && peek(1) == '/')) line_ += text_[at_++] == '\n' ? 1 : 0;
        if (at_ >= text_.size()) return bad_input(fmt::format("PTX line {}: a comment is opened and not closed", opened));
        at_ += 2;
      } else {
        break;
      }
    }
    return {};
  }

  Token make(Token::Kind kind, std::size_t begin, std::size_t end) const { return {kind, text_.substr(begin, end - begin), line_}; }

  Result<Token> next() {
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (starts_word(c)) {
      ++at_;
      while (continues_word(peek())) ++at_;
      return make(Token::Kind::word, begin, at_);
    }
    if (c == '.') {
      ++at_;
      while (continues_word(peek()) || (peek() == ':' && peek(1) == ':')) at_ += peek() == ':' ? 2 : 1;
      if (at_ == begin + 1) return bad_input(fmt::format("PTX line {}: a dot without a name", line_));
      return make(Token::Kind::dot_word, begin + 1, at_);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
    if (c == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
      if (peek() != '"') return bad_input(fmt::format("PTX line {}: a string is opened and not closed", line_));
      ++at_;
      return make(Token::Kind::string, begin + 1, at_ - 1);
    }
    static constexpr std::string_view kPunctuation = "{}[](),;:@!+-*/%<>=|&^~?";
    if (kPunctuation.find(c) == std::string_view::npos) {
      return bad_input(fmt::format("PTX line {}: '{}' (0x{:02x}) starts nothing that PTX has", line_,
                                   std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?', static_cast<unsigned char>(c)));
    }
    ++at_;
    return make(Token::Kind::punctuation, begin, at_);
  }

  Result<Token> number() {
    const std::size_t begin = at_;
    const char second = peek(1);
    const bool coded = peek() == '0' && std::string_view("xXfFdDbB").find(second) != std::string_view::npos && second != '\0';
    if (coded) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
    } else {
      while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
      if (peek() == '.' && std::isdigit(static_cast<unsigned char>(peek(1))) != 0) {
        ++at_;
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
      } else if (peek() == '.' && starts_word(peek(1)) == false) {
        ++at_;  // "1."
      }
      const bool sign = peek(1) == '+' || peek(1) == '-';
      if ((peek() == 'e' || peek() == 'E') && std::isdigit(static_cast<unsigned char>(peek(sign ? 2 : 1))) != 0) {
        at_ += sign ? 2 : 1;
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
      }
    }
    if (peek() == 'U') ++at_;
    if (continues_word(peek())) {
      return bad_input(fmt::format("PTX line {}: '{}' is no number", line_, text_.substr(begin, at_ - begin + 1)));
    }
    return make(Token::Kind::number, begin, at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

Result<std::vector<Token>> lex_ptx(std::string_view text) { return Lexer(text).run(); }

}  // namespace kw::vgpu
