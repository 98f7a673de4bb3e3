#include "memory/raw_memory.h"

#include <c10/util/Exception.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "memory/allocator.h"
#include "memory/memory_checker.h"

namespace dl::core {
namespace {

std::mutex raw_mutex;
std::unordered_map<void*, at::DataPtr>& raw_blocks() {
  static auto* made = new std::unordered_map<void*, at::DataPtr>;
  return *made;
}

}  // namespace

void* allocate_raw(size_t bytes, int device) {
  TORCH_CHECK_VALUE(bytes > 0, "[caching_allocator_alloc] 0 bytes cannot be allocated");
  at::DataPtr made = device_allocator()->allocate_on(bytes, device);
  void* const memory = made.get();
  const std::lock_guard<std::mutex> guard(raw_mutex);
  raw_blocks()[memory] = std::move(made);
  return memory;
}

void free_raw(void* memory) {
  at::DataPtr freed;  // declared first: destroyed last, after the lock
  {
    const std::lock_guard<std::mutex> guard(raw_mutex);
    const auto found = raw_blocks().find(memory);
    if (found != raw_blocks().end()) {
      freed = std::move(found->second);
      raw_blocks().erase(found);
    }
  }
  if (freed.get() == nullptr && memory != nullptr) {
    const std::string before = freed_before(memory);
    TORCH_CHECK_VALUE(before.empty(), "[caching_allocator_delete] double free: ", memory,
                      " has been deleted before\n", before);
    TORCH_CHECK_VALUE(
        false, "[caching_allocator_delete] ", memory,
        " is not allocated: it is not from caching_allocator_alloc(), or was deleted before. "
        "DL_MEM_CHECK=1 tells which");
  }
}

}  // namespace dl::core
