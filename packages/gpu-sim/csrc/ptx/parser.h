#pragma once

#include <memory>
#include <string>

#include "syntax.h"

namespace sim {

/** The module that a text describes. Throws PtxError. What an opcode means is not looked at. */
std::unique_ptr<Module> parse(std::string text);

}  // namespace sim
