#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "region.h"

namespace sim {

/** The memory of one device. Addresses are of no use to the host, and never used twice. */
class DeviceMemory {
 public:
  DeviceMemory(int device, uint64_t limit) : next_(first_address(device)), limit_(limit) {}

  static uint64_t first_address(int device) {
    return uint64_t{1} << 62 | static_cast<uint64_t>(device) << 48 | uint64_t{1} << 24;
  }
  static bool is_device_address(uint64_t address) { return (address >> 62) == 1; }

  /** Throws std::bad_alloc where the device's memory or the host's is too small. */
  OwnedRegion& allocate(uint64_t bytes, uint64_t align, Region::What what, std::string name = {});
  /** Zeros for the barriers of a grid, which are none of the program's bytes. */
  uint64_t allocate_workspace();
  /** False: nothing that is allocated begins there. */
  bool free(uint64_t address);
  /** The live region that holds all the bytes, or null. */
  Region* find(uint64_t address, uint64_t bytes);
  /** The region whose begin or end is nearest to an address, live or not. */
  Region* nearest(uint64_t address);
  /** Make memory of the host visible to programs, at its own address. */
  void add_host(void* memory, uint64_t bytes);
  bool remove_host(void* memory);
  /** Make memory of another device visible to programs of this one. */
  void add_peer(DeviceMemory* peer);
  void remove_peer(DeviceMemory* peer);
  /** The live region that begins there, or none. */
  OwnedRegion* owned(uint64_t address);
  /** Memory of another process, from the files that it shares. Throws std::bad_alloc. */
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
