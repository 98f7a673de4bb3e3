#include "extensions/tracer.h"

#include <new>
#include <string>
#include <utility>

#include "dl/profiler.h"

namespace dl::rocm {
namespace {

using namespace roctracer;

constexpr size_t kBufferBytes = 1 << 20;
// ROCTracer reports external correlations only for HIP calls, so these are enabled although their
// own records are not used.
constexpr uint32_t kDomains[] = {kDevices, kCalls};

int64_t time_of(uint64_t nanoseconds) { return static_cast<int64_t>(nanoseconds); }

}  // namespace

void Tracer::check(int result, const char* operation) {
  if (result == kSuccess) return;
  const char* const text = roctracer_.error_string();
  throw kit::Error(DL_ERROR,
                   std::string(text == nullptr || *text == '\0' ? "an error" : text) + " (" +
                       std::to_string(result) + ") from ROCTracer",
                   operation);
}

void Tracer::enable() {
  if (pool_ == nullptr) {
    const Properties properties{0, kBufferBytes, nullptr, nullptr, completed, this};
    check(roctracer_.set_properties(kCalls, nullptr), "roctracer_set_properties");
    check(roctracer_.open_pool(&properties, &pool_), "roctracer_open_pool");
  }
  for (const uint32_t domain : kDomains) {
    const int result = roctracer_.enable(domain, pool_);
    if (result == kSuccess) continue;
    // The next call would replace the message of this failure.
    try {
      check(result, "roctracer_enable_domain_activity");
    } catch (const kit::Error&) {
      disable();
      throw;
    }
  }
}

void Tracer::disable() {
  for (const uint32_t domain : kDomains) (void)roctracer_.disable(domain);
}

void Tracer::flush(bool) {
  // Nothing has been recorded yet.
  if (pool_ != nullptr) check(roctracer_.flush(pool_), "roctracer_flush_activity");
}

int64_t Tracer::now() {
  uint64_t moment = 0;
  check(roctracer_.timestamp(&moment), "roctracer_get_timestamp");
  return time_of(moment);
}

void Tracer::push(uint64_t correlation) {
  check(roctracer_.push(correlation), "roctracer_activity_push_external_correlation_id");
}

void Tracer::pop() {
  uint64_t last = 0;
  check(roctracer_.pop(&last), "roctracer_activity_pop_external_correlation_id");
}

void Tracer::completed(const char* begin, const char* end, void* self) {
  Tracer& own = *static_cast<Tracer*>(self);
  const auto* record = reinterpret_cast<const Record*>(begin);
  try {
    while (reinterpret_cast<const char*>(record) < end) {
      own.take(*record);
      if (own.roctracer_.next(record, &record) != kSuccess) return;
    }
  } catch (const std::bad_alloc&) {
    own.recorder_.dropped(1);
  }
}

// ROCTracer reports hardware queues, which several streams may share, so the stream is unknown.
void Tracer::take(const Record& record) {
  constexpr uint32_t kNoStream = 0;
  const auto keep = [&](std::string name, uint32_t kind, uint64_t bytes) {
    recorder_.add(record.device, {std::move(name), kind, kNoStream, record.correlation, 0,
                                  time_of(record.start), time_of(record.end), bytes});
  };
  if (record.domain == kExternal && record.op == kExternalId) {
    recorder_.correlated(record.correlation, record.external);
  } else if (record.domain == kDevices && record.op == kKernel) {
    keep(kit::plain_name(record.kernel), DL_ACTIVITY_KERNEL, 0);
  } else if (record.domain == kDevices && record.op == kCopy) {
    const char* const text = roctracer_.op_string(record.domain, record.op, record.kind);
    const std::string name = text == nullptr ? "Copy" : text;
    const bool sets = name.rfind("Fill", 0) == 0;
    keep(name, sets ? DL_ACTIVITY_SET : DL_ACTIVITY_COPY, record.bytes);
  }
}

}  // namespace dl::rocm
