#include "memory/segments.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace dl::core {
namespace {

std::mutex segments_mutex;
std::map<uintptr_t, std::pair<size_t, int>>& segments() {
  static auto* map = new std::map<uintptr_t, std::pair<size_t, int>>;
  return *map;
}

// The segment that contains `pointer`, or the end iterator. The caller must hold the lock.
std::map<uintptr_t, std::pair<size_t, int>>::const_iterator holder(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto found = segments().upper_bound(address);
  if (found == segments().begin()) return segments().end();
  --found;
  return address < found->first + found->second.first ? found : segments().end();
}

}  // namespace

void note_segment(const void* memory, size_t bytes, int device) {
  const std::lock_guard<std::mutex> guard(segments_mutex);
  segments()[reinterpret_cast<uintptr_t>(memory)] = {bytes, device};
}

void forget_segment(const void* memory) {
  const std::lock_guard<std::mutex> guard(segments_mutex);
  segments().erase(reinterpret_cast<uintptr_t>(memory));
}

int device_of_pointer(const void* pointer) {
  const std::lock_guard<std::mutex> guard(segments_mutex);
  const auto found = holder(pointer);
  return found == segments().end() ? -1 : found->second.second;
}

void* segment_of_pointer(const void* pointer) {
  const std::lock_guard<std::mutex> guard(segments_mutex);
  const auto found = holder(pointer);
  return found == segments().end() ? nullptr : reinterpret_cast<void*>(found->first);
}

}  // namespace dl::core
