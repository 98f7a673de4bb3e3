#include "profiler/recording.h"

#include <c10/util/Exception.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "calls/added.h"
#include "calls/call.h"
#include "dl/profiler.h"
#include "profiler/device_clock.h"
#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core::profiler {
namespace {

constexpr size_t kFirstCalls = 4096;

struct State {
  std::mutex mutex;
  bool recording = false;
  Recorded recorded;
  std::vector<std::unique_ptr<DeviceClock>> clocks;  // by device
};

// Never freed, because another thread may be inside a call.
State& state() {
  static auto* found = new State;
  return *found;
}

std::atomic<bool> marking{false};  // a device's clock needs events before and after calls

thread_local std::vector<uint64_t> correlations;
thread_local void* begun = nullptr;  // the event before the active call

int32_t this_thread() {
  thread_local const auto id = static_cast<int32_t>(::syscall(SYS_gettid));
  return id;
}

void* record_mark(int device, void* stream) {
  State& own = state();
  const std::lock_guard<std::mutex> lock(own.mutex);
  if (!own.recording) return nullptr;
  try {
    return own.clocks[static_cast<size_t>(device)]->mark(stream);
  } catch (const c10::Error& error) {
    own.recorded.problems.emplace_back(error.what_without_backtrace());
    return nullptr;
  }
}

void begin(int device) {
  if (marking.load(std::memory_order_relaxed))
    begun = record_mark(device, current_native_stream(device));
}

void end(int device, const char* name, const Site& site, uint64_t start, uint64_t finish) {
  void* const stream = current_native_stream(device);
  HostCall call{name,
                site.overload,
                device,
                this_thread(),
                correlations.empty() ? 0 : correlations.back(),
                static_cast<int64_t>(start),
                static_cast<int64_t>(finish),
                stream};
  call.added_by = added_by(device, name);
  call.first_event = std::exchange(begun, nullptr);
  if (call.first_event != nullptr) call.last_event = record_mark(device, stream);
  State& own = state();
  const std::lock_guard<std::mutex> lock(own.mutex);
  if (own.recording) own.recorded.calls.push_back(call);
}

constexpr CallTrace kTrace = {&begin, &end};

// Vendors that associate work with operators. Never freed, like the state.
using Correlators =
    std::vector<std::pair<const Vendor*, decltype(dl_profiler_extension_t::correlate)>>;
const Correlators& correlators() {
  static const auto* const found = [] {
    auto* list = new Correlators;
    for (int i = 0; i < device_count(); ++i) {
      const Vendor* const vendor = device_unchecked(i).vendor;
      const auto* slots = vendor->extension<dl_profiler_extension_t>(DL_EXT_PROFILER);
      const bool known = !list->empty() && list->back().first == vendor;
      if (slots != nullptr && slots->correlate != nullptr && !known)
        list->emplace_back(vendor, slots->correlate);
    }
    return list;
  }();
  return *found;
}

void correlate(uint64_t id) {
  for (const auto& [vendor, slot] : correlators())
    vendor->call_extension(slot, "profiler.correlate", id, static_cast<uint64_t*>(nullptr));
}

// An error on one device is added to the problems; the other devices continue.
template <typename F>
void attempt(Recorded& recorded, F&& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    recorded.problems.emplace_back(error.what_without_backtrace());
  }
}

}  // namespace

bool start_recording() {
  State& own = state();
  const std::lock_guard<std::mutex> lock(own.mutex);
  if (own.recording) return false;
  own.recorded = {};
  own.clocks.clear();
  for (int i = 0; i < device_count(); ++i) {
    auto clock = device_clock(i);
    try {
      clock->start();
    } catch (const c10::Error& error) {
      own.recorded.problems.emplace_back(error.what_without_backtrace());
      clock = host_clock(i);
    }
    own.clocks.push_back(std::move(clock));
  }
  own.recorded.calls.reserve(kFirstCalls);
  own.recording = true;
  marking = std::any_of(own.clocks.begin(), own.clocks.end(),
                        [](const auto& clock) { return clock->marks(); });
  set_call_trace(&kTrace);
  noted.fetch_or(kNotedTrace);
  return true;
}

void stop_recording() {
  State& own = state();
  noted.fetch_and(static_cast<uint8_t>(~kNotedTrace));
  const std::lock_guard<std::mutex> lock(own.mutex);
  if (!own.recording) return;
  own.recording = false;
  marking = false;
  std::vector<std::vector<size_t>> calls(own.clocks.size());
  for (size_t at = 0; at < own.recorded.calls.size(); ++at)
    calls[static_cast<size_t>(own.recorded.calls[at].device)].push_back(at);
  for (size_t i = 0; i < own.clocks.size(); ++i) {
    attempt(own.recorded, [&] {
      own.clocks[i]->stop();
      own.clocks[i]->collect(calls[i], own.recorded);
    });
  }
  own.clocks.clear();
}

Recorded take_recorded() {
  State& own = state();
  const std::lock_guard<std::mutex> lock(own.mutex);
  return std::exchange(own.recorded, {});
}

void push_correlation(uint64_t id) {
  correlations.push_back(id);
  correlate(id);
}

void pop_correlation() {
  if (correlations.empty()) return;
  correlations.pop_back();
  correlate(correlations.empty() ? 0 : correlations.back());
}

}  // namespace dl::core::profiler
