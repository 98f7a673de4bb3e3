#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

/** Error about a text that is not PTX, or that uses unsupported features; names the line. */
class PtxError : public std::runtime_error {
 public:
  PtxError(int at, const std::string& what)
      : std::runtime_error("PTX line " + std::to_string(at) + ": " + what), line(at) {}
  int line;
};

enum class TokenKind : uint8_t { kWord, kInteger, kFloat, kString, kPunctuation, kEnd };

/** Token. A word may contain dots and double colons: `ld.shared::cta.u32`, `%tid.x`, `.reg`. */
struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 0;
  std::string_view text;
  // An integer, or the bits of a float: 32 bits if `single` is set.
  uint64_t bits = 0;
  bool single = false;

  bool is(std::string_view wanted) const {
    return (kind == TokenKind::kPunctuation || kind == TokenKind::kWord) && text == wanted;
  }
};

/** Return the tokens of a text, which must outlive them; the last one is of kind kEnd. */
std::vector<Token> tokens_of(std::string_view text);

}  // namespace sim
