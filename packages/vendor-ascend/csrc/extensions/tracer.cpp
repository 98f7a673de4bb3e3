#include "extensions/tracer.h"

#include <cstdlib>
#include <ctime>
#include <new>
#include <string>
#include <utility>

#include "dl/profiler.h"

namespace dl::ascend {
namespace {

using namespace mspti;

constexpr size_t kBufferBytes = 1 << 20;
// MSPTI reports external correlations only for calls, so these are enabled although their own
// records are not used.
constexpr int kKinds[] = {kKernel, kCopy, kSet, kCalls, kExternal};

const char* copy_name(int kind) {
  switch (kind) {
    case kHostToDevice:
      return "Memcpy HtoD";
    case kDeviceToHost:
      return "Memcpy DtoH";
    case kDeviceToDevice:
      return "Memcpy DtoD";
    default:
      return "Memcpy";
  }
}

int64_t time_of(uint64_t nanoseconds) { return static_cast<int64_t>(nanoseconds); }

}  // namespace

void Tracer::check(int result, const char* operation) {
  if (result == kSuccess) return;
  constexpr int kOtherSubscriber = 4;
  std::string message = "error " + std::to_string(result) + " of MSPTI";
  if (result == kOtherSubscriber)
    message += "; another profiler in this process uses MSPTI, and only one can";
  throw kit::Error(DL_ERROR, message, operation);
}

void Tracer::enable() {
  if (subscriber_ == nullptr)
    check(mspti_.subscribe(&subscriber_, nullptr, nullptr), "msptiSubscribe");
  if (!registered_) {
    check(mspti_.register_callbacks(requested, completed), "msptiActivityRegisterCallbacks");
    registered_ = true;
  }
  for (const int kind : kKinds) {
    const int result = mspti_.enable(kind);
    if (result == kSuccess) continue;
    disable();
    check(result, "msptiActivityEnable");
  }
}

void Tracer::disable() {
  for (const int kind : kKinds) (void)mspti_.disable(kind);
}

void Tracer::flush(bool) {
  constexpr uint32_t kReserved = 1;
  // Before the first `enable`, nothing has been recorded.
  if (registered_) check(mspti_.flush(kReserved), "msptiActivityFlushAll");
}

int64_t Tracer::now() {
  if (mspti_.timestamp.available()) {
    uint64_t moment = 0;
    check(mspti_.timestamp(&moment), "msptiGetTimestamp");
    return time_of(moment);
  }
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void Tracer::push(uint64_t correlation) {
  check(mspti_.push(kOurCorrelation, correlation), "msptiActivityPushExternalCorrelationId");
}

void Tracer::pop() {
  uint64_t last = 0;
  check(mspti_.pop(kOurCorrelation, &last), "msptiActivityPopExternalCorrelationId");
}

void Tracer::requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  // MSPTI accepts NULL and drops its records.
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void Tracer::completed(uint8_t* buffer, size_t, size_t valid) {
  Tracer& own = Recorder::here().tracer();
  Record* record = nullptr;
  try {
    while (buffer != nullptr && own.mspti_.next(buffer, valid, &record) == kSuccess)
      own.take(*record);
  } catch (const std::bad_alloc&) {
    own.recorder_.dropped(1);
  }
  std::free(buffer);
}

void Tracer::take(const Record& record) {
  const auto keep = [&](const auto& one, std::string name, uint32_t kind, uint64_t bytes) {
    recorder_.add(static_cast<int>(one.device), {std::move(name), kind, one.stream, one.correlation,
                                                 0, time_of(one.start), time_of(one.end), bytes});
  };
  if (record.kind == kKernel) {
    const auto& one = reinterpret_cast<const KernelRecord&>(record);
    keep(one, kit::plain_name(one.name), DL_ACTIVITY_KERNEL, 0);
  } else if (record.kind == kCopy) {
    const auto& one = reinterpret_cast<const CopyRecord&>(record);
    keep(one, copy_name(one.copy_kind), DL_ACTIVITY_COPY, one.bytes);
  } else if (record.kind == kSet) {
    const auto& one = reinterpret_cast<const SetRecord&>(record);
    keep(one, "Memset", DL_ACTIVITY_SET, one.bytes);
  } else if (record.kind == kExternal) {
    const auto& one = reinterpret_cast<const ExternalRecord&>(record);
    if (one.external_kind == kOurCorrelation) recorder_.correlated(one.correlation, one.id);
  }
}

}  // namespace dl::ascend
