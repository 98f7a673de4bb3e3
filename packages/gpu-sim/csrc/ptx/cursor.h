#pragma once

#include <string>
#include <utility>

#include "lexer.h"

namespace sim {

/** Position in a list of tokens. Unexpected tokens throw PtxError. */
class Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const {
    return tokens_[place_ + ahead < tokens_.size() ? place_ + ahead : tokens_.size() - 1];
  }
  bool ended() const { return peek().kind == TokenKind::kEnd; }
  Token next() {
    const Token token = peek();
    if (!ended()) ++place_;
    return token;
  }
  Token next_or_fail() {
    if (ended()) fail("unexpected end of the text");
    return next();
  }
  bool take(std::string_view text) {
    if (!peek().is(text)) return false;
    next();
    return true;
  }
  void expect(std::string_view text) {
    const Token token = peek();
    if (!take(text))
      fail(token, "expected '" + std::string(text) + "' before '" + std::string(token.text) + "'");
  }
  std::string_view word() {
    const Token token = next();
    if (token.kind != TokenKind::kWord)
      fail(token, "expected a name instead of '" + std::string(token.text) + "'");
    return token.text;
  }
  int64_t integer() {
    const bool negative = take("-");
    const Token token = next();
    if (token.kind != TokenKind::kInteger)
      fail(token, "expected an integer instead of '" + std::string(token.text) + "'");
    return static_cast<int64_t>(negative ? 0 - token.bits : token.bits);
  }
  /** Skip the rest of this line. */
  void skip_line() {
    const int line = peek().line;
    while (!ended() && peek().line == line) next();
  }
  [[noreturn]] void fail(const Token& token, const std::string& why) const {
    throw PtxError(token.line, token.kind == TokenKind::kEnd ? "unexpected end of text" : why);
  }
  [[noreturn]] void fail(const std::string& why) const { throw PtxError(peek().line, why); }

 private:
  std::vector<Token> tokens_;
  size_t place_ = 0;
};

}  // namespace sim
