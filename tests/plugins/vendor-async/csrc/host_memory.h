#ifndef DL_ASYNC_TEST_HOST_MEMORY_H_
#define DL_ASYNC_TEST_HOST_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "memory.h"

namespace dl::async_test {

/** The pinned host memory of one instance. */
class HostMemory {
 public:
  /** Held by an enqueued copy; while one is alive, release() refuses. */
  using Use = std::shared_ptr<const Mapping>;

  void* allocate(uint64_t bytes);
  void release(void* memory);
  /** A use of the block that holds [address, address + bytes); empty when the memory is pageable.
   */
  Use use(const void* address, uint64_t bytes) const;

 private:
  struct Block {
    uint64_t bytes;
    std::shared_ptr<const Mapping> mapping;
  };

  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
};

}  // namespace dl::async_test

#endif
