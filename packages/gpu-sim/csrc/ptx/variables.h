#pragma once

#include <functional>

#include "cursor.h"
#include "syntax.h"

namespace sim {

/** Read `.shared .align 4 .b8`, up to the name. */
Variable variable_declaration(Cursor& cursor);

/** Read `name[4] = {…}, other;` and call `add` for each variable. */
void add_variables(Cursor& cursor, const Variable& declaration,
                   const std::function<void(Variable)>& add);

/** Read `(.param .u64 a, .param .align 4 .b8 b[16])`. */
std::vector<Variable> parameters(Cursor& cursor);

/** Return true if a word is the name of a state space. */
bool is_space(std::string_view word);

}  // namespace sim
