#include "device_memory.h"

#include <new>

namespace sim {
namespace {

// Gap between two allocations, so that an access past an end does not hit the next one.
constexpr uint64_t kGap = 4096;
// Maximum number of freed regions that are remembered for reports.
constexpr size_t kMostFreed = 65536;

template <class T>
T* at_or_before(std::map<uint64_t, std::unique_ptr<T>>& all, uint64_t address) {
  auto next = all.upper_bound(address);
  return next == all.begin() ? nullptr : std::prev(next)->second.get();
}

template <class T>
T* after(std::map<uint64_t, std::unique_ptr<T>>& all, uint64_t address) {
  const auto next = all.upper_bound(address);
  return next == all.end() ? nullptr : next->second.get();
}

}  // namespace

OwnedRegion& DeviceMemory::allocate(uint64_t bytes, uint64_t align, Region::What what,
                                    std::string name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > limit_ - used_) throw std::bad_alloc();
  next_ = (next_ + align - 1) / align * align;
  auto made = std::make_unique<OwnedRegion>(next_, bytes, what);
  made->name = std::move(name);
  used_ += bytes;
  return keep(std::move(made));
}

uint64_t DeviceMemory::allocate_workspace() {
  // Layout of cooperative groups' workspace: its size in bytes, then the barrier.
  constexpr uint32_t kBytes = 8;
  constexpr uint64_t kAlign = 256;
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = (next_ + kAlign - 1) / kAlign * kAlign;
  used_ += kBytes;
  // Allocated outside the limit, so that launches work even if a program has used all memory.
  OwnedRegion& made = keep(std::make_unique<OwnedRegion>(next_, kBytes, Region::What::kVariable));
  made.name = "the grid's workspace";
  std::memset(made.bytes, 0, kBytes);
  std::memcpy(made.bytes, &kBytes, sizeof kBytes);
  std::memset(made.valid, 1, kBytes);
  return made.base;
}

OwnedRegion& DeviceMemory::keep(std::unique_ptr<OwnedRegion> made) {
  OwnedRegion& region = *made;
  next_ += region.size + kGap;
  regions_[region.base] = std::move(made);
  return region;
}

OwnedRegion& DeviceMemory::adopt(int bytes_file, int flags_file, uint64_t bytes) {
  constexpr uint64_t kAlign = 512;
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = (next_ + kAlign - 1) / kAlign * kAlign;
  used_ += bytes;
  return keep(std::make_unique<OwnedRegion>(next_, bytes, bytes_file, flags_file));
}

OwnedRegion* DeviceMemory::owned(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = regions_.find(address);
  return found == regions_.end() ? nullptr : found->second.get();
}

void DeviceMemory::add_peer(DeviceMemory* peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  peers_.insert(peer);
}

void DeviceMemory::remove_peer(DeviceMemory* peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  peers_.erase(peer);
}

bool DeviceMemory::free(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = regions_.find(address);
  if (found == regions_.end()) return false;
  auto remembered = std::make_unique<Region>();
  remembered->what = found->second->what;
  remembered->base = address;
  remembered->size = found->second->size;
  remembered->freed = true;
  used_ -= remembered->size;
  if (freed_.size() == kMostFreed) freed_.erase(freed_.begin());
  freed_[address] = std::move(remembered);
  regions_.erase(found);
  return true;
}

Region* DeviceMemory::find(uint64_t address, uint64_t bytes) {
  std::set<DeviceMemory*> peers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Region* found = is_device_address(address)
                        ? static_cast<Region*>(at_or_before(regions_, address))
                        : at_or_before(host_, address);
    if (found != nullptr && found->holds(address, bytes)) return found;
    if (peers_.empty() || !is_device_address(address)) return nullptr;
    peers = peers_;
  }
  // Without the lock, since two devices may search each other's memory at once.
  for (DeviceMemory* peer : peers) {
    const std::lock_guard<std::mutex> lock(peer->mutex_);
    Region* found = at_or_before(peer->regions_, address);
    if (found != nullptr && found->holds(address, bytes)) return found;
  }
  return nullptr;
}

Region* DeviceMemory::nearest(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Region* best = nullptr;
  // At equal distance, prefer a live region, then the region before the address.
  const auto consider = [&](Region* one) {
    if (one != nullptr && (best == nullptr || one->distance(address) < best->distance(address)))
      best = one;
  };
  consider(at_or_before(regions_, address));
  consider(after(regions_, address));
  consider(at_or_before(freed_, address));
  consider(after(freed_, address));
  return best;
}

void DeviceMemory::add_host(void* memory, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto made = std::make_unique<Region>();
  made->what = Region::What::kHost;
  made->base = reinterpret_cast<uint64_t>(memory);
  made->size = bytes;
  made->bytes = static_cast<uint8_t*>(memory);
  host_[made->base] = std::move(made);
}

bool DeviceMemory::remove_host(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return host_.erase(reinterpret_cast<uint64_t>(memory)) != 0;
}

}  // namespace sim
