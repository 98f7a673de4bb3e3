#include "distributed/arrival_streams.h"

#include <mutex>
#include <optional>

#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core::distributed {
namespace {

// One for each device and process, so that results do not queue behind the caller's own work.
c10::Stream arrival_stream(int device) {
  static std::mutex mutex;
  static std::optional<c10::Stream> streams[kMaxDevices];
  const std::lock_guard<std::mutex> guard(mutex);
  if (!streams[device]) streams[device] = pooled_stream(device, true);
  return *streams[device];
}

}  // namespace

ArrivalStreams::ArrivalStreams(const std::vector<c10::Device>& devices) {
  for (const c10::Device& each : devices) {
    if (device(each.index()).synchronous) continue;
    previous_.push_back(exchange_stream(arrival_stream(each.index())));
  }
}

ArrivalStreams::~ArrivalStreams() {
  for (const c10::Stream& each : previous_) exchange_stream(each);
}

}  // namespace dl::core::distributed
