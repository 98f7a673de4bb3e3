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
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard<std::mutex> guard(segments_mutex);
  auto found = segments().upper_bound(address);
  if (found == segments().begin()) return -1;
  --found;
  return address < found->first + found->second.first ? found->second.second : -1;
}

}  // namespace dl::core
