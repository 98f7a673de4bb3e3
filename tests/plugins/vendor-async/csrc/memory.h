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

/** The memory of one device. Two ranges of equal size: device addresses are in one without access
 * rights, so that the host faults on them; the bytes are stored at the same offset of the other
 * range, which only this vendor knows. Memory shared by another process has its own pair of
 * ranges. */
class DeviceMemory {
 public:
  static constexpr uint64_t kAlignment = 256;
  static constexpr int kFreshByte = 0xFF;  // NaN in every floating dtype, -1 as an integer
  static constexpr int kFreedByte = 0xDB;

  DeviceMemory(int32_t device, uint64_t bytes);

  /** Throws Error(DL_OUT_OF_MEMORY). The bytes are kFreshByte. */
  void* allocate(uint64_t bytes);
  /** Overwrite the bytes with kFreedByte immediately, so that work still enqueued on them is
   * noticed. */
  void release(void* memory);
  /** Return the bytes of a device address. Throws Error unless [address, address + bytes) is within
   * one allocation. */
  std::byte* translate(const void* address, uint64_t bytes) const;

  /** Export an allocation to other processes, until it is freed. */
  dl_peer_handle_t export_allocation(const void* memory);
  /** Return the address in this process of another process's memory, and its size. */
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
  std::map<uint64_t, uint64_t> gaps_;                    // offset -> bytes, adjacent gaps merged
  std::map<uint64_t, uint64_t> live_;                    // offset -> requested bytes
  std::map<uintptr_t, std::unique_ptr<Opened>> opened_;  // by their first address in this process
  uint64_t used_ = 0;
  uint64_t live_bytes_ = 0;
};

}  // namespace dl::async_test

#endif
