#include "variables.h"

#include <cstring>
#include <map>

namespace sim {
namespace {

// More bytes than any device has are an error in the text, and must not exhaust host memory.
constexpr uint64_t kMostBytes = uint64_t{1} << 32;

const std::map<std::string_view, Space>& spaces() {
  static const std::map<std::string_view, Space> kSpaces = {
      {".global", Space::kGlobal}, {".shared", Space::kShared}, {".local", Space::kLocal},
      {".const", Space::kConst},   {".param", Space::kParam},
  };
  return kSpaces;
}

void put(Variable& variable, uint64_t place, uint64_t bits) {
  const size_t width = variable.type.bytes;
  if ((place + 1) * width > variable.bytes)
    throw PtxError(variable.line, "'" + std::string(variable.name) + "' has too many values");
  variable.initial.resize((place + 1) * width);
  std::memcpy(&variable.initial[place * width], &bits, std::min<size_t>(width, sizeof bits));
}

uint64_t float_bits(const Token& token, Type type) {
  if (token.single || type.bytes != 4 || token.text.substr(0, 2) == "0d") return token.bits;
  double wide;
  std::memcpy(&wide, &token.bits, sizeof wide);
  const auto narrow = static_cast<float>(wide);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

// Limit of nested braces: an array has one level for each dimension.
constexpr int kMostBraces = 64;

void value(Cursor& cursor, Variable& variable, uint64_t& place, int braces = 0) {
  if (cursor.take("{")) {
    if (braces == kMostBraces)
      cursor.fail("initial values are nested in more than " + std::to_string(kMostBraces) +
                  " braces");
    if (cursor.take("}")) return;
    do value(cursor, variable, place, braces + 1);
    while (cursor.take(","));
    cursor.expect("}");
    return;
  }
  const bool negative = cursor.take("-");
  const Token token = cursor.next();
  if (token.kind == TokenKind::kInteger) {
    put(variable, place++, negative ? 0 - token.bits : token.bits);
  } else if (token.kind == TokenKind::kFloat) {
    const uint64_t sign = uint64_t{negative} << (8 * variable.type.bytes - 1);
    put(variable, place++, float_bits(token, variable.type) ^ sign);
  } else if (token.kind == TokenKind::kWord) {
    std::string_view symbol = token.text;
    if (symbol == "generic") {
      cursor.expect("(");
      symbol = cursor.word();
      cursor.expect(")");
    }
    const int64_t plus = cursor.take("+") ? cursor.integer() : 0;
    put(variable, place, 0);
    variable.patches.push_back({place++ * variable.type.bytes, symbol, plus, variable.type.bytes});
  } else {
    cursor.fail(token, "'" + std::string(token.text) + "' is not an initial value");
  }
}

}  // namespace

bool is_space(std::string_view word) { return spaces().count(word) != 0; }

Variable variable_declaration(Cursor& cursor) {
  Variable made;
  const Token first = cursor.next();
  const auto space = spaces().find(first.text);
  if (first.kind != TokenKind::kWord || space == spaces().end())
    cursor.fail(first, "'" + std::string(first.text) + "' is not a supported directive");
  made.space = space->second;
  made.line = first.line;
  uint32_t align = 0;
  uint64_t elements = 1;
  while (!made.type) {
    const Token token = cursor.next_or_fail();
    if (token.is(".align")) {
      align = static_cast<uint32_t>(cursor.integer());
      if (align == 0 || (align & (align - 1)) != 0 || align > 4096)
        cursor.fail(token, ".align needs a power of two");
    } else if (token.is(".v2") || token.is(".v4")) {
      elements = token.is(".v2") ? 2 : 4;
    } else if (token.is(".ptr")) {
      continue;
    } else if (token.is(".attribute")) {
      while (!cursor.take(")")) cursor.next_or_fail();
    } else if (token.kind == TokenKind::kWord && token.text[0] == '.') {
      made.type = type_named(token.text.substr(1));
      if (!made.type) cursor.fail(token, "'" + std::string(token.text) + "' is not a type");
    } else {
      cursor.fail(token, "expected a type before '" + std::string(token.text) + "'");
    }
  }
  made.bytes = elements * made.type.bytes;
  made.align = align != 0 ? align : static_cast<uint32_t>(made.bytes);
  return made;
}

namespace {

/** Read a name and its sizes. */
Variable named(Cursor& cursor, const Variable& declaration) {
  Variable made = declaration;
  made.line = cursor.peek().line;
  made.name = cursor.word();
  while (cursor.take("[")) {
    if (cursor.take("]")) {
      made.open = true;
      made.bytes = 0;
      continue;
    }
    const int64_t count = cursor.integer();
    cursor.expect("]");
    if (count < 0 ||
        __builtin_mul_overflow(made.bytes, static_cast<uint64_t>(count), &made.bytes) ||
        made.bytes > kMostBytes)
      throw PtxError(made.line, "'" + std::string(made.name) + "' has an invalid size");
  }
  return made;
}

}  // namespace

void add_variables(Cursor& cursor, const Variable& declaration,
                   const std::function<void(Variable)>& add) {
  do {
    Variable made = named(cursor, declaration);
    if (cursor.take("=")) {
      uint64_t place = 0;
      if (made.open) made.bytes = kMostBytes;
      value(cursor, made, place);
      if (made.open) made.bytes = made.initial.size();
      made.open = false;
    }
    add(std::move(made));
  } while (cursor.take(","));
  cursor.expect(";");
}

std::vector<Variable> parameters(Cursor& cursor) {
  std::vector<Variable> found;
  cursor.expect("(");
  while (!cursor.take(")")) {
    if (!found.empty()) cursor.expect(",");
    const Token token = cursor.peek();
    if (token.is(".reg")) cursor.fail(token, "parameters in registers are not supported");
    Variable declaration = variable_declaration(cursor);
    // Attributes of a pointer's target: `.param .u64 .ptr .global .align 16 name`.
    while (cursor.peek().text.substr(0, 1) == ".") {
      const Token attribute = cursor.next();
      if (attribute.is(".align")) cursor.integer();
    }
    found.push_back(named(cursor, declaration));
  }
  return found;
}

}  // namespace sim
