// Timer of DDP's statistics: without it, every DDP instance warns that the device has no timer.
#include <c10/core/Event.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <array>
#include <optional>

#include "contract/device_indices.h"
#include "runtime/stream.h"

namespace dl::core::distributed {

constexpr double kNanosecondsPerMillisecond = 1e6;

class DeviceTimer final : public c10d::Timer {
 public:
  explicit DeviceTimer(c10::Device device) : device_(device) {}

  void record(Event event) override {
    Timer::record(event);
    auto& mark = marks_[static_cast<size_t>(event)];
    if (!mark) mark.emplace(kDeviceType, c10::EventFlag::BACKEND_DEFAULT);
    mark->record(current_stream(device_.index()));
  }

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto &first = marks_[static_cast<size_t>(start)],
               &last = marks_[static_cast<size_t>(end)];
    if (!first || !last) return std::nullopt;
    first->synchronize();
    last->synchronize();
    const double milliseconds = first->elapsedTime(*last);
    // Events recorded in a different order: the last iteration has not reached them yet.
    if (milliseconds < 0) return std::nullopt;
    return static_cast<int64_t>(milliseconds * kNanosecondsPerMillisecond);
  }

 private:
  const c10::Device device_;
  std::array<std::optional<c10::Event>, 5> marks_;
};

}  // namespace dl::core::distributed

namespace c10d {
using dl::core::distributed::DeviceTimer;
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kPrivateUse1, DeviceTimer)
}  // namespace c10d
