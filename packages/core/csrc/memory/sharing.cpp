#include "memory/sharing.h"

#include <c10/core/impl/COW.h>

#include <mutex>
#include <unordered_map>
#include <utility>

#include "memory/allocator.h"
#include "memory/transfer.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

// The original pointers that shareable pointers replace.
std::mutex behind_mutex;
std::unordered_map<const void*, at::DataPtr>& behind() {
  static auto* map = new std::unordered_map<const void*, at::DataPtr>;
  return *map;
}

void free_by_address(void* memory) {
  at::DataPtr freed;  // declared first: destroyed last, after the lock
  const std::lock_guard<std::mutex> guard(behind_mutex);
  const auto found = behind().find(memory);
  if (found == behind().end()) return;
  freed = std::move(found->second);
  behind().erase(found);
}

// Allocates the memory for a writer on the device of the shared memory.
class OnDevice final : public c10::Allocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    return device_allocator()->allocate_on(bytes, index_);
  }
  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    copy_within_device(index_, destination, source, bytes);
  }
  static OnDevice* of(int index) {
    static auto* const all = [] {
      auto* made = new OnDevice[kMaxDevices];
      for (int i = 0; i < kMaxDevices; ++i) made[i].index_ = i;
      return made;
    }();
    return &all[index];
  }

 private:
  int index_ = 0;
};

}  // namespace

void make_shareable(c10::StorageImpl& storage) {
  const at::DataPtr& given = storage.data_ptr();
  if (given.get() == nullptr || given.get_deleter() == &free_by_address ||
      c10::impl::cow::is_cow_data_ptr(given))
    return;
  at::DataPtr& pointer = storage._mutable_data_ptr_no_checks();
  void* const memory = pointer.get();
  at::DataPtr by_address(memory, memory, &free_by_address, pointer.device());
  storage.set_allocator(OnDevice::of(pointer.device().index()));
  const std::lock_guard<std::mutex> guard(behind_mutex);
  behind()[memory] = std::move(pointer);
  pointer = std::move(by_address);
}

void* context_behind(const void* memory, at::DeleterFnPtr deleter) {
  const std::lock_guard<std::mutex> guard(behind_mutex);
  const auto found = behind().find(memory);
  if (found == behind().end() || found->second.get_deleter() != deleter) return nullptr;
  return found->second.get_context();
}

void replace_memory(c10::StorageImpl& storage, at::DataPtr&& memory) {
  storage.set_data_ptr_noswap(std::move(memory));
  if (C10_UNLIKELY(storage.has_materializer())) storage.clear_materializer();
}

}  // namespace dl::core
