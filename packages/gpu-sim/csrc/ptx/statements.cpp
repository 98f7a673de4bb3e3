#include "statements.h"

#include "variables.h"

namespace sim {
namespace {

constexpr int kMostRegisters = 1 << 20;
constexpr int kMostDepth = 64;

}  // namespace

void StatementParser::open_scope() {
  cursor_.expect("{");
  Scope made;
  made.parent = scope_;
  scope_ = static_cast<int>(routine_.scopes.size());
  routine_.scopes.push_back(std::move(made));
}

void StatementParser::body() {
  open_scope();
  while (true) {
    const Token& token = cursor_.peek();
    if (token.is("{")) {
      open_scope();
    } else if (token.is("}")) {
      cursor_.next();
      scope_ = scope().parent;
      if (scope_ < 0) return;
    } else if (token.kind == TokenKind::kEnd) {
      cursor_.fail("'" + std::string(routine_.name) + "' has no end");
    } else if (token.kind == TokenKind::kWord && token.text[0] == '.') {
      directive();
    } else if (token.kind == TokenKind::kWord && cursor_.peek(1).is(":")) {
      named_list();
    } else {
      instruction();
    }
  }
}

void StatementParser::directive() {
  const Token token = cursor_.peek();
  if (token.is(".reg")) {
    cursor_.next();
    registers();
  } else if (token.is(".loc")) {
    cursor_.next();
    source_line();
  } else if (token.is(".pragma")) {
    while (!cursor_.take(";")) cursor_.next_or_fail();
  } else if (is_space(token.text)) {
    add_variables(cursor_, variable_declaration(cursor_), [this](Variable one) {
      const std::string_view name = one.name;
      if (!scope().variables.emplace(name, std::move(one)).second)
        cursor_.fail("'" + std::string(name) + "' is declared twice");
    });
  } else {
    cursor_.fail(token,
                 "'" + std::string(token.text) + "' is not a directive that the simulator knows");
  }
}

void StatementParser::registers() {
  Type type;
  while (!type) {
    const Token token = cursor_.next_or_fail();
    type = type_named(token.text.substr(token.text.empty() ? 0 : 1));
    if (!type)
      cursor_.fail(token, "registers of type '" + std::string(token.text) + "' are not supported");
  }
  do {
    const std::string_view name = cursor_.word();
    int count = -1;
    if (cursor_.take("<")) {
      count = static_cast<int>(std::min<int64_t>(cursor_.integer(), kMostRegisters + 1));
      cursor_.expect(">");
      if (count < 0) cursor_.fail("'" + std::string(name) + "' has no registers");
    }
    const int added = count < 0 ? 1 : count;
    if (routine_.registers + added > kMostRegisters) cursor_.fail("too many registers");
    if (!scope().registers.emplace(name, Scope::Range{type, count, routine_.registers}).second)
      cursor_.fail("'" + std::string(name) + "' is declared twice");
    routine_.registers += added;
    routine_.register_types.insert(routine_.register_types.end(), static_cast<size_t>(added), type);
  } while (cursor_.take(","));
  cursor_.expect(";");
}

void StatementParser::source_line() {
  SourceLine made;
  made.file = static_cast<int>(cursor_.integer());
  made.line = static_cast<int>(cursor_.integer());
  cursor_.integer();
  while (cursor_.take(",")) {
    if (cursor_.take("function_name")) {
      cursor_.word();
      if (cursor_.take("+")) cursor_.integer();
    } else if (cursor_.take("inlined_at")) {
      made.outer_file = static_cast<int>(cursor_.integer());
      made.outer_line = static_cast<int>(cursor_.integer());
      cursor_.integer();
    } else {
      cursor_.fail("'" + std::string(cursor_.peek().text) + "' is not valid in .loc");
    }
  }
  // Line 0 marks code without a line: it keeps the previous location.
  if (made.line == 0) return;
  source_ = static_cast<int>(module_.sources.size());
  module_.sources.push_back(made);
}

void StatementParser::named_list() {
  const Token name = cursor_.next();
  cursor_.expect(":");
  if (cursor_.take(".branchtargets") || cursor_.take(".calltargets")) {
    std::vector<std::string_view> found;
    do found.push_back(cursor_.word());
    while (cursor_.take(","));
    cursor_.expect(";");
    scope().label_lists[name.text] = std::move(found);
  } else if (cursor_.take(".callprototype")) {
    while (!cursor_.take(";")) cursor_.next_or_fail();
  } else if (!scope().labels.emplace(name.text, static_cast<int>(routine_.body.size())).second) {
    cursor_.fail(name, "label '" + std::string(name.text) + "' is defined twice");
  }
}

void StatementParser::instruction() {
  Statement made;
  made.line = cursor_.peek().line;
  made.source = source_;
  made.scope = scope_;
  if (cursor_.take("@")) {
    made.guard_negated = cursor_.take("!");
    made.guard = cursor_.word();
  }
  made.opcode = cursor_.word();
  depth_ = 0;
  if (!cursor_.peek().is(";")) {
    do made.operands.push_back(operand());
    while (cursor_.take(","));
  }
  cursor_.expect(";");
  routine_.body.push_back(std::move(made));
}

Operand StatementParser::operand() {
  Operand first = simple_operand();
  if (!cursor_.take("|")) return first;
  Operand pair;
  pair.form = Operand::Form::kPair;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(simple_operand());
  return pair;
}

Operand StatementParser::group(char close) {
  Operand made;
  made.form = close == '}' ? Operand::Form::kVector : Operand::Form::kList;
  if (++depth_ > kMostDepth) cursor_.fail("operands are nested too deeply");
  const std::string_view end = close == '}' ? "}" : ")";
  if (cursor_.take(end)) return made;
  do made.parts.push_back(operand());
  while (cursor_.take(","));
  cursor_.expect(end);
  return made;
}

Operand StatementParser::address() {
  Operand made;
  if (cursor_.peek().kind == TokenKind::kWord) {
    made = simple_operand();
  }
  made.form = Operand::Form::kAddress;
  const bool plus = cursor_.take("+");
  if (!cursor_.peek().is("]") && (plus || made.name.empty() || cursor_.peek().is("-")))
    made.bits += static_cast<uint64_t>(cursor_.integer());
  // Coordinates of a texture, which the decoder rejects.
  while (cursor_.take(",")) made.parts.push_back(operand());
  cursor_.expect("]");
  return made;
}

Operand StatementParser::simple_operand() {
  if (cursor_.take("{")) return group('}');
  if (cursor_.take("(")) return group(')');
  if (cursor_.take("[")) return address();
  Operand made;
  made.negated = cursor_.take("!");
  const bool minus = cursor_.take("-");
  const Token token = cursor_.next();
  if (token.kind == TokenKind::kInteger) {
    made.form = Operand::Form::kInteger;
    made.bits = minus ? 0 - token.bits : token.bits;
  } else if (token.kind == TokenKind::kFloat) {
    made.form = Operand::Form::kFloat;
    made.single = token.single;
    made.bits = token.bits ^ (uint64_t{minus} << (token.single ? 31 : 63));
  } else if (token.kind == TokenKind::kWord && !minus) {
    made.form = token.text == "_" ? Operand::Form::kSink : Operand::Form::kName;
    made.name = token.text;
    if (cursor_.take("+")) made.bits = static_cast<uint64_t>(cursor_.integer());
  } else {
    cursor_.fail(token, "'" + std::string(token.text) + "' is not an operand");
  }
  return made;
}

}  // namespace sim
