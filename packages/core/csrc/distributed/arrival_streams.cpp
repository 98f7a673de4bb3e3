#include "distributed/arrival_streams.h"

#include <mutex>
#include <optional>

#include "runtime/device.h"
#include "runtime/reserved_stream.h"
#include "runtime/stream.h"

namespace dl::core::distributed {
namespace {

// One stream per device and process, so that results do not queue after the caller's own work.
c10::Stream arrival_stream(int device) {
  static std::mutex mutex;
  static std::optional<c10::Stream> streams[kMaxDevices];
  const std::lock_guard<std::mutex> guard(mutex);
  if (!streams[device]) streams[device] = reserved_stream(device, -1);
  return *streams[device];
}

}  // namespace

ArrivalStreams::ArrivalStreams(const std::vector<c10::Device>& devices) {
  // Get all streams before making the first one current, because creating a stream may fail.
  std::vector<c10::Stream> arriving;
  for (const c10::Device& each : devices) {
    if (!device(each.index()).synchronous) arriving.push_back(arrival_stream(each.index()));
  }
  previous_.reserve(arriving.size());
  for (const c10::Stream& each : arriving) previous_.push_back(exchange_stream(each));
}

ArrivalStreams::~ArrivalStreams() {
  for (const c10::Stream& each : previous_) exchange_stream(each);
}

}  // namespace dl::core::distributed
