#include "memory/pinned.h"

#include <c10/core/alignment.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "memory/allocator.h"
#include "memory/size_class.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

struct PendingUse {
  int device;
  void* event;
};

struct HostBlock {
  void* memory;
  size_t bytes;
  int size_class;
  const Vendor* vendor;  // NULL for plain host memory
  c10::SmallVector<PendingUse, 2> uses;
};

bool is_finished(const PendingUse& use) {
  const Device& owner = device_unchecked(use.device);
  int32_t done = 0;
  owner.vendor->call(&dl_vendor_table_t::event_query, "event_query", owner.local, use.event, &done);
  if (done != 0) {
    owner.vendor->call(&dl_vendor_table_t::event_destroy, "event_destroy", owner.local, use.event);
  }
  return done != 0;
}

class PinnedAllocator final : public at::HostAllocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, at::DeviceType::CPU};
    check_not_forked();
    const int size = size_class(bytes);
    const std::lock_guard<std::mutex> guard(mutex_);
    collect_finished();
    HostBlock* block = nullptr;
    auto& list = free_[size];
    if (!list.empty()) {
      block = list.back();
      list.pop_back();
    } else {
      block = make(size);
    }
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(block->bytes);
    return {block->memory, block, &release, at::DeviceType::CPU};
  }

  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    std::memcpy(destination, source, bytes);
  }

  bool record_event(void* pointer, void*, c10::Stream stream) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    HostBlock* block = find(pointer);
    if (block == nullptr) return false;
    const Device& owner = device(stream.device_index());
    if (owner.synchronous) return true;
    PendingUse use{stream.device_index(), nullptr};
    owner.vendor->call(&dl_vendor_table_t::event_create, "event_create", owner.local, uint64_t{0},
                       &use.event);
    owner.vendor->call(&dl_vendor_table_t::event_record, "event_record", owner.local, use.event,
                       native_stream(stream));
    block->uses.push_back(use);
    return true;
  }

  void empty_cache() override {
    const std::lock_guard<std::mutex> guard(mutex_);
    free_unused();
  }

  at::HostStats get_stats() override {
    const std::lock_guard<std::mutex> guard(mutex_);
    return stats_;
  }
  void reset_accumulated_stats() override {
    const std::lock_guard<std::mutex> guard(mutex_);
    for (auto* stat : counters()) stat->reset_accumulated();
  }
  void reset_peak_stats() override {
    const std::lock_guard<std::mutex> guard(mutex_);
    for (auto* stat : counters()) stat->reset_peak();
  }

  bool owns(const void* pointer) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return find(pointer) != nullptr;
  }

 private:
  static void release(void* context) {
    if (context != nullptr)
      static_cast<PinnedAllocator*>(pinned_allocator())
          ->give_back(static_cast<HostBlock*>(context));
  }

  void give_back(HostBlock* block) {
    if (in_bad_fork()) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(block->bytes);
    if (block->uses.empty()) {
      free_[block->size_class].push_back(block);
    } else {
      waiting_.push_back(block);
    }
  }

  void collect_finished() {
    std::vector<HostBlock*> still_waiting;
    for (HostBlock* block : waiting_) {
      while (!block->uses.empty() && is_finished(block->uses.back())) block->uses.pop_back();
      if (block->uses.empty()) {
        free_[block->size_class].push_back(block);
      } else {
        still_waiting.push_back(block);
      }
    }
    waiting_.swap(still_waiting);
  }

  void free_unused() {
    collect_finished();
    for (auto& list : free_) {
      for (HostBlock* block : list) destroy(block);
      list.clear();
    }
  }

  static void* pin(const Vendor* owner, size_t bytes) {
    void* memory = nullptr;
    if (owner != nullptr) {
      owner->call(&dl_vendor_table_t::host_allocate, "host_allocate", static_cast<uint64_t>(bytes),
                  &memory);
    } else {
      TORCH_CHECK_WITH(OutOfMemoryError, posix_memalign(&memory, c10::gAlignment, bytes) == 0,
                       "[dl] out of host memory: tried to pin ", bytes, " bytes");
    }
    return memory;
  }

  HostBlock* make(int size) {
    note_device_use();
    const size_t bytes = class_bytes(size);
    const Vendor* owner = device(current_device()).vendor;
    if (owner->slots().host_allocate == nullptr) owner = nullptr;
    void* memory = nullptr;
    try {
      memory = pin(owner, bytes);
    } catch (const c10::OutOfMemoryError&) {
      // Releasing cached blocks may make room for this request.
      free_unused();
      memory = pin(owner, bytes);
    }
    auto* block = new HostBlock{memory, bytes, size, owner, {}};
    blocks_[reinterpret_cast<uintptr_t>(memory)] = block;
    stats_.allocations.increase(1);
    stats_.allocated_bytes.increase(bytes);
    ++stats_.num_host_alloc;
    return block;
  }

  void destroy(HostBlock* block) {
    blocks_.erase(reinterpret_cast<uintptr_t>(block->memory));
    stats_.allocations.decrease(1);
    stats_.allocated_bytes.decrease(block->bytes);
    ++stats_.num_host_free;
    if (block->vendor != nullptr) {
      block->vendor->call_noexcept(&dl_vendor_table_t::host_free, "host_free", block->memory);
    } else {
      std::free(block->memory);
    }
    delete block;
  }

  HostBlock* find(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    auto found = blocks_.upper_bound(address);
    if (found == blocks_.begin()) return nullptr;
    --found;
    return address < found->first + found->second->bytes ? found->second : nullptr;
  }

  std::array<c10::CachingAllocator::Stat*, 4> counters() {
    return {&stats_.active_requests, &stats_.active_bytes, &stats_.allocations,
            &stats_.allocated_bytes};
  }

  std::mutex mutex_;
  std::vector<HostBlock*> free_[kSizeClasses];
  std::vector<HostBlock*> waiting_;
  std::map<uintptr_t, HostBlock*> blocks_;
  at::HostStats stats_;
};

PinnedAllocator& instance() {
  static auto* allocator = new PinnedAllocator;
  return *allocator;
}

}  // namespace

at::HostAllocator* pinned_allocator() { return &instance(); }

bool is_pinned(const void* pointer) { return instance().owns(pointer); }

void record_pinned_use(const void* pointer, c10::Stream stream) {
  instance().record_event(const_cast<void*>(pointer), nullptr, stream);
}

void keep_until_passed(const void* pointer, c10::Stream stream) noexcept {
  try {
    record_pinned_use(pointer, stream);
  } catch (...) {
    // Without a working event, only a device synchronization guarantees that the memory is unused.
    const Device& owner = device_unchecked(stream.device_index());
    owner.vendor->call_noexcept(&dl_vendor_table_t::device_synchronize, "device_synchronize",
                                owner.local);
  }
}

void register_allocators() {
  c10::SetAllocator(kDeviceType, device_allocator());
  at::setHostAllocator(kDeviceType, pinned_allocator());
}

}  // namespace dl::core
