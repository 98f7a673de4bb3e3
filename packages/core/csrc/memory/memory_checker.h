// Memory checker (DL_MEM_CHECK): detects memory errors of programs and vendors.
//
// Every block comes from the vendor and is placed between guard bands; freed blocks are filled with
// a pattern and quarantined. A changed guard is an out-of-bounds write, a changed pattern is a use
// after free, and a block that is allocated at process exit is a leak.
#pragma once

#include <string>
#include <vector>

#include "memory/allocator.h"

namespace dl::core {

struct MemoryCheck {
  bool stacks;          // Python and C++ stacks of allocations and frees
  bool every_operator;  // check after every operator, and not only when memory is freed
};

// Enables the checker; called before the first allocation.
void start_memory_check(const MemoryCheck& check);
bool checks_memory();

// The checking allocator; it forwards to `plain` everything but allocations.
DeviceAllocator* checking_allocator(DeviceAllocator* plain);

// Checks all memory; returns the errors found since the start, in order.
std::vector<std::string> check_memory();

// Describes an address that is to be freed and is not allocated, if it was allocated before;
// otherwise empty.
std::string freed_before(const void* memory);

// Symbolizes the stacks of live blocks, while the interpreter is available. Blocks that are live at
// process exit are reported then.
void prepare_leak_report();

}  // namespace dl::core
