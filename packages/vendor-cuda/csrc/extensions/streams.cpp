#include "extensions/streams.h"

#include "extensions/companions.h"
#include "extensions/tracer.h"

namespace dl::cuda {
namespace {

uint32_t id_of(void* stream, int32_t device) {
  driver::Context context = nullptr;
  if (Devices::here().context(device, &context) != driver::kSuccess) return 0;
  return Recorder::here().tracer().stream_id(context, static_cast<driver::Stream>(stream));
}

}  // namespace

void Streams::remove(void* stream, int32_t device) {
  static const bool profiles = cupti_companion().present();
  const bool recorded = profiles && Recorder::here().records(Devices::here().device(device));
  const uint32_t id = recorded ? id_of(stream, device) : 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  live_.erase(stream);
  if (id != 0) gone_[device][id] = stream;
}

std::map<uint32_t, void*> Streams::by_id(int32_t device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<uint32_t, void*> found = gone_[device];
  gone_.erase(device);
  found[id_of(nullptr, device)] = nullptr;
  for (const auto& [stream, owner] : live_) {
    if (owner == device) found[id_of(stream, device)] = stream;
  }
  return found;
}

}  // namespace dl::cuda
