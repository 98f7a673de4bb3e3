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
  /** `limit`: available bytes. */
  explicit HostMemory(uint64_t limit) : limit_(limit) {}

  /** Held by an enqueued copy; while one exists, release() fails. */
  using Use = std::shared_ptr<const Mapping>;

  /** Throws Error with DL_OUT_OF_MEMORY beyond the limit. */
  void* allocate(uint64_t bytes);
  void release(void* memory);
  /** Return a use of the block that contains [address, address + bytes); empty if the memory is
   * pageable. */
  Use use(const void* address, uint64_t bytes) const;

 private:
  struct Block {
    uint64_t bytes;
    std::shared_ptr<const Mapping> mapping;
  };

  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  std::map<uintptr_t, Block> blocks_;
};

}  // namespace dl::async_test

#endif
