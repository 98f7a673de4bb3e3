// Finds what programs and vendors do wrong with device memory: DL_MEM_CHECK.
//
// Every block comes from the vendor and lies between guard bands; what is freed is filled with a
// pattern and kept back for a while. A changed guard is a write out of bounds, a changed pattern a
// write after the block was freed, and what is not freed when the process has ended is a leak.
#pragma once

#include <string>
#include <vector>

#include "memory/allocator.h"

namespace dl::core {

struct MemoryCheck {
  bool stacks;          // of Python and C++, of allocations and frees
  bool every_operator;  // look after each, and not only when memory is freed
};

// From now on, before the first allocation.
void start_memory_check(const MemoryCheck& check);
bool checks_memory();

// The allocator that does it; hands on to `plain` what is no allocation.
DeviceAllocator* checking_allocator(DeviceAllocator* plain);

// Looks at all memory now; returns what was found wrong since the start, in the order of finding.
std::vector<std::string> check_memory();

// What is known of an address that is to be freed and is not allocated; empty if nothing.
std::string freed_before(const void* memory);

// Where the blocks that are live were allocated, while the interpreter can still tell. Those that
// are live when the process ends are reported then.
void prepare_leak_report();

}  // namespace dl::core
