#include "memory/snapshot.h"

#include <algorithm>
#include <mutex>

#include "memory/device_state.h"

namespace dl::core {

std::vector<SegmentView> segments_of(int device) {
  DeviceState& state = state_of(device);
  std::vector<SegmentView> views;
  {
    const std::lock_guard<SpinLock> guard(state.lock);
    state.each_memory([&](FreeMemory& memory) {
      for (const Segment* segment : memory.segments()) {
        SegmentView view{
            segment->memory, segment->bytes, segment->first->stream, segment->small, {}};
        for (const Block* block = segment->first; block != nullptr; block = block->after)
          view.blocks.push_back({block->memory, block->bytes, block->requested, block->state});
        views.push_back(std::move(view));
      }
    });
  }
  std::sort(views.begin(), views.end(),
            [](const SegmentView& a, const SegmentView& b) { return a.memory < b.memory; });
  return views;
}

}  // namespace dl::core
