#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "region.h"

namespace sim {

/** Memory of one device. Addresses are invalid on the host, and never reused. */
class DeviceMemory {
 public:
  DeviceMemory(int device, uint64_t limit) : next_(first_address(device)), limit_(limit) {}

  static uint64_t first_address(int device) {
    return uint64_t{1} << 62 | static_cast<uint64_t>(device) << 48 | uint64_t{1} << 24;
  }
  static bool is_device_address(uint64_t address) { return (address >> 62) == 1; }

  /** Allocate. Throws std::bad_alloc if the device's or the host's memory is exhausted. */
  OwnedRegion& allocate(uint64_t bytes, uint64_t align, Region::What what, std::string name = {});
  /** Return zeroed memory for grid barriers, which does not count as memory of the program. */
  uint64_t allocate_workspace();
  /** Free an allocation; return false if none begins at this address. */
  bool free(uint64_t address);
  /** Return the live region that contains all the bytes, or null. */
  Region* find(uint64_t address, uint64_t bytes);
  /** Return the live or freed region whose begin or end is nearest to an address. */
  Region* nearest(uint64_t address);
  /** Make host memory visible to kernels, at its host address. */
  void add_host(void* memory, uint64_t bytes);
  bool remove_host(void* memory);
  /** Make memory of another device visible to kernels of this one. */
  void add_peer(DeviceMemory* peer);
  void remove_peer(DeviceMemory* peer);
  /** Return the live region that begins at an address, or null. */
  OwnedRegion* owned(uint64_t address);
  /** Map memory of another process, from the files that it shares. Throws std::bad_alloc. */
  OwnedRegion& adopt(int bytes_file, int flags_file, uint64_t bytes);

  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_; }

 private:
  OwnedRegion& keep(std::unique_ptr<OwnedRegion> made);

  uint64_t next_;
  uint64_t limit_;
  uint64_t used_ = 0;
  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<OwnedRegion>> regions_;
  std::map<uint64_t, std::unique_ptr<Region>> host_;
  std::set<DeviceMemory*> peers_;
  // Addresses of freed regions, without their content.
  std::map<uint64_t, std::unique_ptr<Region>> freed_;
};

}  // namespace sim
