// Streams and events of a vendor whose work runs on the thread that enqueues it.
#include <atomic>
#include <chrono>

#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

// Only an identity.
struct Stream {
  int32_t priority;
};

struct Event {
  bool timing;
  std::atomic<int64_t> nanoseconds{0};
  std::atomic<bool> recorded{false};
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void* Vendor::stream_create(int32_t, int32_t priority) { return new Stream{priority}; }
void Vendor::stream_destroy(int32_t, void* stream) { delete static_cast<Stream*>(stream); }

void* Vendor::event_create(int32_t, uint64_t flags) {
  return new Event{(flags & DL_EVENT_TIMING) != 0, {}, {}};
}
void Vendor::event_destroy(int32_t, void* event) { delete static_cast<Event*>(event); }

void Vendor::event_record(int32_t, void* event, void*) {
  auto* recorded = static_cast<Event*>(event);
  if (recorded->timing) recorded->nanoseconds = now();
  recorded->recorded = true;
}

double Vendor::event_elapsed(int32_t, void* start, void* end) {
  const auto& first = *static_cast<Event*>(start);
  const auto& last = *static_cast<Event*>(end);
  if (!first.timing || !last.timing)
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "an event without timing; create both with DL_EVENT_TIMING");
  if (!first.recorded || !last.recorded)
    throw kit::Error(DL_INVALID_ARGUMENT, "an event that was never recorded; record both first");
  return static_cast<double>(last.nanoseconds - first.nanoseconds) * 1e-6;
}

}  // namespace dl::cpu
