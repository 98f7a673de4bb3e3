#pragma once

#include "access.h"

namespace sim {

/** Compare an access with earlier ones of the same bytes, report races, and remember it. */
void note_access(Warp& warp, const Instruction& instruction, uint32_t lane, Region& region,
                 uint64_t offset, uint32_t bytes, Purpose purpose, const uint8_t* fresh);

/** Strong access: acquire the clocks released at the address, and release the fenced ones. */
void synchronise(Warp& warp, const Instruction& instruction, Space space, uint64_t address,
                 Purpose purpose);

}  // namespace sim
