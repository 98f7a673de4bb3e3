#pragma once

#include <memory>
#include <string>

#include "syntax.h"

namespace sim {

/** Parse a text to a module. Throws PtxError. Opcodes are not interpreted. */
std::unique_ptr<Module> parse(std::string text);

}  // namespace sim
