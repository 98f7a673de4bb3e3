#include "profiler/memory_events.h"

#include <c10/core/Allocator.h>

#include "memory/watcher.h"
#include "runtime/device.h"

namespace dl::core::profiler {
namespace {

class Reporter final : public MemoryWatcher {
 public:
  void notice(const MemoryNews& news) noexcept override {
    const bool taken = news.event == MemoryEvent::allocated;
    if (!taken && news.event != MemoryEvent::freed) return;
    try {
      if (!c10::memoryProfilingEnabled()) return;
      const auto bytes = static_cast<int64_t>(news.bytes);
      c10::reportMemoryUsageToProfiler(
          const_cast<void*>(news.memory), taken ? bytes : -bytes,
          static_cast<size_t>(news.allocated), static_cast<size_t>(news.reserved),
          c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(news.device)));
    } catch (...) {
      // Freeing memory must not throw; the timeline lacks this event.
    }
  }
};

}  // namespace

void report_memory(bool on) {
  static auto* const reporter = new Reporter;
  if (on) {
    add_memory_watcher(reporter);
  } else {
    remove_memory_watcher(reporter);
  }
}

}  // namespace dl::core::profiler
