// Memory checker (DL_MEM_CHECK): detects memory errors of programs and vendors.
//
// The vendor allocates each block separately, between guard bands; freed blocks are filled with a
// pattern and quarantined. A changed guard is an out-of-bounds write, a changed pattern is a use
// after free, and a block that is still allocated at process exit is a leak.
#pragma once

#include <string>
#include <vector>

#include "memory/allocator.h"

namespace dl::core {

struct MemoryCheck {
  bool stacks;          // Python and C++ stacks of allocations and frees
  bool every_operator;  // check after every operator instead of only when memory is freed
};

// Enables the checker; called before the first allocation.
void start_memory_check(const MemoryCheck& check);
bool checks_memory();

// The checking allocator; it forwards everything except allocations to `plain`.
DeviceAllocator* checking_allocator(DeviceAllocator* plain);

// Checks all memory; returns the errors found since the start, in order.
std::vector<std::string> check_memory();

// Describes an address that is about to be freed although it is not allocated: the block that was
// allocated there before. Empty if there was none.
std::string freed_before(const void* memory);

// Symbolizes the stacks of live blocks while the interpreter can still do it. The blocks that are
// still live at process exit are reported then.
void prepare_leak_report();

}  // namespace dl::core
