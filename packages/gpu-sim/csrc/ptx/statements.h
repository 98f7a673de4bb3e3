#pragma once

#include "cursor.h"
#include "syntax.h"

namespace sim {

/** Parse the body of a function, between its braces. */
class StatementParser {
 public:
  StatementParser(Module& module, Routine& routine, Cursor& cursor)
      : module_(module), routine_(routine), cursor_(cursor) {}

  void body();

 private:
  Scope& scope() { return routine_.scopes[static_cast<size_t>(scope_)]; }
  void open_scope();
  void directive();
  void registers();
  void source_line();
  void named_list();
  void instruction();
  Operand operand();
  Operand simple_operand();
  Operand address();
  Operand group(char close);

  Module& module_;
  Routine& routine_;
  Cursor& cursor_;
  int scope_ = -1;
  int source_ = -1;
  int depth_ = 0;
};

}  // namespace sim
