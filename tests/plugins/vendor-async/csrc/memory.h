#ifndef DL_ASYNC_TEST_MEMORY_H_
#define DL_ASYNC_TEST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "mapping.h"
#include "sharing.h"

namespace dl::async_test {

/** The memory of one device. Two ranges of equal size: device addresses lie in one without any
 * access right, so that the host faults on them, and the bytes lie at the same offset of the other,
 * known to this vendor alone. What other processes share with it has such a pair each. */
class DeviceMemory {
 public:
  static constexpr uint64_t kAlignment = 256;
  static constexpr int kFreshByte = 0xFF;  // NaN in every floating dtype, -1 as an integer
  static constexpr int kFreedByte = 0xDB;

  DeviceMemory(int32_t device, uint64_t bytes);

  /** Throws Error(DL_OUT_OF_MEMORY). The bytes are kFreshByte. */
  void* allocate(uint64_t bytes);
  /** Overwrites the bytes with kFreedByte at once: work still enqueued on them shows. */
  void release(void* memory);
  /** The bytes behind a device address. Throws Error unless [address, address + bytes) lies in one
   * allocation. */
  std::byte* translate(const void* address, uint64_t bytes) const;

  /** Names an allocation to other processes, until it is freed. */
  dl_peer_handle_t export_allocation(const void* memory);
  /** The address here of memory of another process, and its size. */
  void* open(const dl_peer_handle_t& handle, uint64_t* bytes);
  void close(void* memory);

  uint64_t total_bytes() const { return total_; }
  uint64_t free_bytes() const;
  uint64_t live_allocations() const;
  uint64_t live_bytes() const;

 private:
  struct Opened {
    explicit Opened(const dl_peer_handle_t& handle);

    OpenedPart part;
    Mapping addresses;
  };

  void insert_gap(uint64_t offset, uint64_t bytes);
  std::byte* find(uintptr_t address, uint64_t bytes) const;

  const int32_t device_;
  const uint64_t total_;
  Mapping addresses_;
  SharedFile file_;
  Mapping bytes_;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> gaps_;                    // offset -> bytes, neighbours merged
  std::map<uint64_t, uint64_t> live_;                    // offset -> bytes as asked for
  std::map<uintptr_t, std::unique_ptr<Opened>> opened_;  // by their first address here
  uint64_t used_ = 0;
  uint64_t live_bytes_ = 0;
};

}  // namespace dl::async_test

#endif
