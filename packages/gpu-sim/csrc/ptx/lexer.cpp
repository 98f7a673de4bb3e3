#include "lexer.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sim {
namespace {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> found;
    while (true) {
      skip_blanks();
      found.push_back(next());
      if (found.back().kind == TokenKind::kEnd) return found;
    }
  }

 private:
  char at(size_t offset = 0) const {
    return place_ + offset < text_.size() ? text_[place_ + offset] : '\0';
  }
  bool ended() const { return place_ >= text_.size(); }
  static bool starts_word(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }
  static bool continues_word(char c) {
    return starts_word(c) || std::isdigit(static_cast<unsigned char>(c));
  }

  void skip_blanks() {
    while (!ended()) {
      if (at() == '\n') {
        ++line_;
        ++place_;
      } else if (std::isspace(static_cast<unsigned char>(at())) || at() == '\0') {
        ++place_;
      } else if (at() == '/' && at(1) == '/') {
        while (!ended() && at() != '\n') ++place_;
      } else if (at() == '/' && at(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    const int begin = line_;
    const size_t end = text_.find("*/", place_ + 2);
    if (end == std::string_view::npos) throw PtxError(begin, "unterminated comment");
    for (; place_ < end + 2; ++place_) line_ += text_[place_] == '\n';
  }

  Token next() {
    Token token;
    token.line = line_;
    const size_t begin = place_;
    if (ended()) return token;
    if (starts_word(at())) {
      // `.reg.b32` are two directives, but `add.u32` is one opcode.
      const bool directive = at() == '.';
      if (directive) ++place_;
      while ((continues_word(at()) && !(directive && at() == '.')) ||
             (at() == ':' && at(1) == ':' && ++place_))
        ++place_;
      token.kind = TokenKind::kWord;
    } else if (std::isdigit(static_cast<unsigned char>(at()))) {
      number(token);
    } else if (at() == '"') {
      do {
        ++place_;
        if (ended() || at() == '\n') throw PtxError(line_, "unterminated string");
      } while (at() != '"');
      ++place_;
      token.kind = TokenKind::kString;
      token.text = text_.substr(begin + 1, place_ - begin - 2);
      return token;
    } else {
      token.kind = TokenKind::kPunctuation;
      ++place_;
    }
    token.text = text_.substr(begin, place_ - begin);
    return token;
  }

  void number(Token& token) {
    const char prefix = static_cast<char>(std::tolower(static_cast<unsigned char>(at(1))));
    if (at() == '0' && (prefix == 'f' || prefix == 'd')) return hexadecimal_float(token, prefix);
    size_t end = place_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) ||
                                  is_point(end) || is_exponent_sign(end)))
      ++end;
    const std::string word(text_.substr(place_, end - place_));
    const bool hexadecimal = at() == '0' && prefix == 'x';
    char* rest = nullptr;
    if (!hexadecimal && word.find_first_of(".eE") != std::string::npos) {
      const double value = std::strtod(word.c_str(), &rest);
      std::memcpy(&token.bits, &value, sizeof value);
      token.kind = TokenKind::kFloat;
    } else {
      const bool binary = at() == '0' && prefix == 'b';
      errno = 0;
      token.bits = std::strtoull(word.c_str() + (binary ? 2 : 0), &rest, binary ? 2 : 0);
      if (errno == ERANGE) throw PtxError(line_, "'" + word + "' does not fit into 64 bits");
      token.kind = TokenKind::kInteger;
      if (*rest == 'U') ++rest;
    }
    if (*rest != '\0') throw PtxError(line_, "'" + word + "' is not a number");
    place_ = end;
  }

  /** Return true for a decimal point; in `.align 16.b8` the dot begins a directive. */
  bool is_point(size_t place) const {
    if (text_[place] != '.') return false;
    const char next = place + 1 < text_.size() ? text_[place + 1] : '\0';
    return !std::isalpha(static_cast<unsigned char>(next)) || next == 'e' || next == 'E';
  }

  bool is_exponent_sign(size_t place) const {
    return (text_[place] == '+' || text_[place] == '-') &&
           (text_[place - 1] == 'e' || text_[place - 1] == 'E') &&
           std::isdigit(static_cast<unsigned char>(text_[place_])) &&
           text_.substr(place_, place - place_).find('x') == std::string_view::npos;
  }

  void hexadecimal_float(Token& token, char prefix) {
    const size_t digits = prefix == 'f' ? 8 : 16;
    const std::string word(text_.substr(place_ + 2, digits));
    char* rest = nullptr;
    const uint64_t bits = std::strtoull(word.c_str(), &rest, 16);
    if (word.size() != digits || *rest != '\0')
      throw PtxError(line_,
                     "'" + std::string(text_.substr(place_, digits + 2)) + "' is not a number");
    place_ += digits + 2;
    token.kind = TokenKind::kFloat;
    token.single = prefix == 'f';
    token.bits = bits;
  }

  std::string_view text_;
  size_t place_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).all(); }

}  // namespace sim
