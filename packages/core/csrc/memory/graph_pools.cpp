#include "memory/graph_pools.h"

#include <c10/util/Exception.h>

#include <map>
#include <mutex>
#include <utility>

#include "memory/device_state.h"
#include "runtime/stream.h"

namespace dl::core {

std::atomic<int> running_captures{0};

namespace {

struct Pools {
  std::mutex mutex;
  std::map<std::pair<int, int64_t>, int64_t> capturing;      // (device, stream) → key
  std::map<std::pair<int, c10::MempoolId_t>, int64_t> keys;  // (device, name) → key
  int64_t last_key = 0;                                      // negative, below the keys of streams
};

Pools& pools() {
  static auto* made = new Pools;
  return *made;
}

}  // namespace

int64_t captured_pool_of(int device, int64_t stream) {
  const std::lock_guard<std::mutex> guard(pools().mutex);
  const auto found = pools().capturing.find({device, stream});
  return found == pools().capturing.end() ? stream : found->second;
}

bool is_capturing(int device) {
  if (C10_LIKELY(running_captures.load(std::memory_order_relaxed) == 0)) return false;
  const int64_t stream = current_stream(device).id();
  return captured_pool_of(device, stream) != stream;
}

void check_not_capturing(int device, const char* what) {
  if (C10_LIKELY(!is_capturing(device))) return;
  throw CaptureError(
      {__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
      c10::str("[dl] ", what, " cannot be captured: the current stream of dl:", device,
               " is being captured in a graph, so its work does not run yet; "
               "do this before or after the capture"));
}

c10::MempoolId_t new_pool_name() {
  static std::atomic<c10::CaptureId_t> names{0};
  return {++names, 0};
}

void begin_pool(int device, int64_t stream, c10::MempoolId_t pool) {
  const std::lock_guard<std::mutex> guard(pools().mutex);
  int64_t& key = pools().keys[{device, pool}];
  if (key == 0) key = --pools().last_key;
  pools().capturing[{device, stream}] = key;
  DeviceState& state = state_of(device);
  {
    const std::lock_guard<SpinLock> state_guard(state.lock);
    state.memory_of(key).hold();
  }
  running_captures.fetch_add(1);
}

void end_pool(int device, int64_t stream) {
  const std::lock_guard<std::mutex> guard(pools().mutex);
  if (pools().capturing.erase({device, stream}) > 0) running_captures.fetch_sub(1);
}

void release_pool(int device, c10::MempoolId_t pool) {
  const std::lock_guard<std::mutex> guard(pools().mutex);
  const auto found = pools().keys.find({device, pool});
  if (found == pools().keys.end()) return;
  DeviceState& state = state_of(device);
  const std::lock_guard<SpinLock> state_guard(state.lock);
  state.memory_of(found->second).let_go();
}

}  // namespace dl::core
