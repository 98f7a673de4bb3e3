#include "extensions/tracer.h"

#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "dl/profiler.h"

namespace dl::cuda {
namespace {

using namespace cupti;

constexpr size_t kBufferBytes = 1 << 20;
// CUPTI reports external correlations only for driver calls, so these are enabled although their
// own records are not used.
constexpr int kKinds[] = {kKernel, kCopy, kSet, kDriver, kExternal};

const char* copy_name(uint8_t kind) {
  switch (kind) {
    case 1:
      return "Memcpy HtoD";
    case 2:
      return "Memcpy DtoH";
    case 8:
      return "Memcpy DtoD";
    default:
      return "Memcpy";
  }
}

int64_t time_of(uint64_t nanoseconds) { return static_cast<int64_t>(nanoseconds); }

}  // namespace

void Tracer::check(int result, const char* operation) {
  if (result == kSuccess) return;
  const char* text = nullptr;
  if (cupti_.result_string(result, &text) != kSuccess || text == nullptr) text = "an error";
  std::string message = std::string(text) + " (" + std::to_string(result) + ") from CUPTI";
  constexpr int kInsufficientPrivileges = 35;
  if (result == kInsufficientPrivileges)
    message +=
        "; an administrator must allow users to profile "
        "(NVreg_RestrictProfilingToAdminUsers=0 of NVIDIA's kernel driver)";
  throw kit::Error(DL_ERROR, message, operation);
}

void Tracer::enable() {
  if (!registered_) {
    check(cupti_.register_callbacks(requested, completed), "cuptiActivityRegisterCallbacks");
    registered_ = true;
  }
  for (const int kind : kKinds) {
    const int result = cupti_.enable(kind);
    if (result == kSuccess) continue;
    disable();
    check(result, "cuptiActivityEnable");
  }
}

void Tracer::disable() {
  for (const int kind : kKinds) (void)cupti_.disable(kind);
}

void Tracer::flush(bool whole) {
  check(cupti_.flush(whole ? kFlushForced : 0), "cuptiActivityFlushAll");
}

int64_t Tracer::now() {
  uint64_t moment = 0;
  check(cupti_.timestamp(&moment), "cuptiGetTimestamp");
  return time_of(moment);
}

uint32_t Tracer::stream_id(driver::Context context, driver::Stream stream) {
  uint32_t found = 0;
  return cupti_.stream_id(context, stream, 0, &found) == kSuccess ? found : 0;
}

void Tracer::push(uint64_t correlation) {
  check(cupti_.push(kOurCorrelation, correlation), "cuptiActivityPushExternalCorrelationId");
}

void Tracer::pop() {
  uint64_t last = 0;
  check(cupti_.pop(kOurCorrelation, &last), "cuptiActivityPopExternalCorrelationId");
}

void Tracer::requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  // CUPTI accepts NULL and drops its records.
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void Tracer::completed(driver::Context context, uint32_t stream, uint8_t* buffer, size_t,
                       size_t valid) {
  Tracer& own = Recorder::here().tracer();
  size_t dropped = 0;
  Record* record = nullptr;
  const bool counted = own.cupti_.dropped(context, stream, &dropped) == kSuccess;
  if (counted) own.recorder_.dropped(dropped);
  try {
    while (buffer != nullptr && own.cupti_.next(buffer, valid, &record) == kSuccess)
      own.take(*record);
  } catch (const std::bad_alloc&) {
    own.recorder_.dropped(1);
  }
  std::free(buffer);
}

void Tracer::take(const Record& record) {
  const auto keep = [&](const auto& one, std::string name, uint32_t kind, uint64_t bytes) {
    recorder_.add(static_cast<driver::Device>(one.device),
                  {std::move(name), kind, one.stream, one.correlation, 0, time_of(one.start),
                   time_of(one.end), bytes});
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

}  // namespace dl::cuda
