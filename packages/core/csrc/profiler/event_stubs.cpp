// Events before and after each operator: torch's other way to time a device, used by
// torch.autograd.profiler.profile(use_device="dl").
#include <c10/core/Event.h>
#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <functional>
#include <memory>

#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core::profiler {
namespace {

using torch::profiler::impl::ProfilerVoidEventStub;

class EventStubs final : public torch::profiler::impl::ProfilerStubs {
 public:
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event,
              int64_t* cpu_ns) const override {
    const int index = current_device();
    if (device != nullptr) *device = static_cast<c10::DeviceIndex>(index);
    // Events with this flag support timing.
    auto made = std::make_shared<c10::Event>(kDeviceType, c10::EventFlag::BACKEND_DEFAULT);
    made->record(current_stream(index));
    *event = std::move(made);
    if (cpu_ns != nullptr) *cpu_ns = c10::getTime();
  }

  // Elapsed time in microseconds.
  float elapsed(const ProfilerVoidEventStub* first,
                const ProfilerVoidEventStub* second) const override {
    const auto& start = *static_cast<const c10::Event*>(first->get());
    const auto& end = *static_cast<const c10::Event*>(second->get());
    start.synchronize();
    end.synchronize();
    return static_cast<float>(start.elapsedTime(end) * 1000.0);
  }

  // The vendor interface has no markers.
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}

  bool enabled() const override { return device_count() > 0; }
  void onEachDevice(std::function<void(int)> visit) const override {
    for (int index = 0; index < device_count(); ++index) {
      const DeviceScope scope(index);
      visit(index);
    }
  }
  void synchronize() const override { synchronize_device(current_device()); }
};

const bool registered = [] {
  static EventStubs stubs;
  torch::profiler::impl::registerPrivateUse1Methods(&stubs);
  return true;
}();

}  // namespace
}  // namespace dl::core::profiler
