#include "memory/watcher.h"

#include <array>
#include <mutex>

#include "memory/device_state.h"

namespace dl::core {
namespace {

std::array<std::atomic<MemoryWatcher*>, 8> watchers{};

}  // namespace

std::atomic<int> memory_watchers{0};

void add_memory_watcher(MemoryWatcher* watcher) {
  for (auto& slot : watchers) {
    MemoryWatcher* none = nullptr;
    if (slot.load() == watcher) return;
    if (!slot.compare_exchange_strong(none, watcher)) continue;
    ++memory_watchers;
    return;
  }
}

void remove_memory_watcher(MemoryWatcher* watcher) {
  for (auto& slot : watchers) {
    MemoryWatcher* there = watcher;
    if (slot.compare_exchange_strong(there, nullptr)) --memory_watchers;
  }
}

void tell_memory_watchers(MemoryNews news) noexcept {
  {
    DeviceState& state = state_of(news.device);
    const std::lock_guard<SpinLock> guard(state.lock);
    news.allocated = state.allocated.current();
    news.reserved = state.reserved.current();
  }
  for (const auto& slot : watchers)
    if (MemoryWatcher* watcher = slot.load(std::memory_order_acquire)) watcher->notice(news);
}

}  // namespace dl::core
