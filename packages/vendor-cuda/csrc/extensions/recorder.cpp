#include "extensions/recorder.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "dl/profiler.h"

namespace dl::cuda {
namespace {

using namespace cupti;

constexpr size_t kBufferBytes = 1 << 20;
// External numbers are told of calls of the driver alone, whose own records nobody reads.
constexpr int kKinds[] = {kKernel, kCopy, kSet, kDriver, kExternal};

std::string plain_name(const char* name) {
  if (name == nullptr) return "kernel";
  int status = 0;
  char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string found = plain == nullptr ? name : plain;
  std::free(plain);
  return found;
}

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

// Never destroyed: CUPTI calls back until the process has ended.
Recorder& Recorder::here() {
  static Recorder* const one = new Recorder;
  return *one;
}

void Recorder::check(int result, const char* operation) {
  if (result == kSuccess) return;
  const char* text = nullptr;
  if (cupti_.result_string(result, &text) != kSuccess || text == nullptr) text = "an error";
  std::string message = std::string(text) + " (" + std::to_string(result) + ") of CUPTI";
  constexpr int kInsufficientPrivileges = 35;
  if (result == kInsufficientPrivileges)
    message +=
        "; the administrator has to let users profile "
        "(NVreg_RestrictProfilingToAdminUsers=0 of NVIDIA's kernel driver)";
  throw kit::Error(DL_ERROR, message, operation);
}

void Recorder::start(driver::Device device) {
  const std::lock_guard<std::mutex> calls(calls_);
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (active_.count(device) != 0)
      throw kit::Error(DL_INVALID_ARGUMENT,
                       "the device is being recorded already; stop that first");
    first = active_.empty();
  }
  if (!registered_) {
    check(cupti_.register_callbacks(requested, completed), "cuptiActivityRegisterCallbacks");
    registered_ = true;
  }
  for (const int kind : kKinds) {
    const int result = first ? cupti_.enable(kind) : kSuccess;
    if (result == kSuccess) continue;
    for (const int enabled : kKinds) (void)cupti_.disable(enabled);
    check(result, "cuptiActivityEnable");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  active_.insert(device);
}

void Recorder::stop(driver::Device device) {
  const std::lock_guard<std::mutex> calls(calls_);
  if (!records(device))
    throw kit::Error(DL_INVALID_ARGUMENT, "the device is not being recorded; start that first");
  const int flushed = cupti_.flush(kFlushForced);
  bool last = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    active_.erase(device);
    last = active_.empty();
  }
  for (const int kind : kKinds) {
    if (last) (void)cupti_.disable(kind);
  }
  check(flushed, "cuptiActivityFlushAll");
}

std::vector<Recorded> Recorder::collect(driver::Device device, uint64_t* dropped) {
  check(cupti_.flush(0), "cuptiActivityFlushAll");
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Recorded> all = std::move(found_[device]);
  found_.erase(device);
  for (Recorded& one : all) {
    const auto known = correlations_.find(one.launch);
    if (known != correlations_.end()) one.correlation = known->second;
  }
  if (active_.empty() && found_.empty()) correlations_.clear();
  std::stable_sort(all.begin(), all.end(),
                   [](const Recorded& a, const Recorded& b) { return a.start < b.start; });
  *dropped = std::exchange(dropped_, 0);
  return all;
}

int64_t Recorder::now() {
  uint64_t moment = 0;
  check(cupti_.timestamp(&moment), "cuptiGetTimestamp");
  return time_of(moment);
}

uint32_t Recorder::stream_id(driver::Context context, driver::Stream stream) {
  uint32_t found = 0;
  return cupti_.stream_id(context, stream, 0, &found) == kSuccess ? found : 0;
}

uint64_t Recorder::correlate(uint64_t correlation) {
  thread_local uint64_t current = 0;
  uint64_t last = 0;
  if (current != 0)
    check(cupti_.pop(kOurCorrelation, &last), "cuptiActivityPopExternalCorrelationId");
  const uint64_t before = std::exchange(current, 0);
  if (correlation != 0)
    check(cupti_.push(kOurCorrelation, correlation), "cuptiActivityPushExternalCorrelationId");
  current = correlation;
  return before;
}

bool Recorder::records(driver::Device device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return active_.count(device) != 0;
}

void Recorder::requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  // CUPTI takes NULL for an answer, and drops what it had.
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void Recorder::completed(driver::Context context, uint32_t stream, uint8_t* buffer, size_t,
                         size_t valid) {
  Recorder& own = here();
  size_t dropped = 0;
  Record* record = nullptr;
  const bool told = own.cupti_.dropped(context, stream, &dropped) == kSuccess;
  const std::lock_guard<std::mutex> lock(own.mutex_);
  if (told) own.dropped_ += dropped;
  try {
    while (buffer != nullptr && own.cupti_.next(buffer, valid, &record) == kSuccess)
      own.take(*record);
  } catch (const std::bad_alloc&) {
    ++own.dropped_;
  }
  std::free(buffer);
}

void Recorder::take(const Record& record) {
  const auto keep = [&](const auto& one, std::string name, uint32_t kind, uint64_t bytes) {
    const auto device = static_cast<driver::Device>(one.device);
    // Another device is recorded.
    if (active_.count(device) == 0) return;
    found_[device].push_back({std::move(name), kind, one.stream, one.correlation, 0,
                              time_of(one.start), time_of(one.end), bytes});
  };
  if (record.kind == kKernel) {
    const auto& one = reinterpret_cast<const KernelRecord&>(record);
    keep(one, plain_name(one.name), DL_ACTIVITY_KERNEL, 0);
  } else if (record.kind == kCopy) {
    const auto& one = reinterpret_cast<const CopyRecord&>(record);
    keep(one, copy_name(one.copy_kind), DL_ACTIVITY_COPY, one.bytes);
  } else if (record.kind == kSet) {
    const auto& one = reinterpret_cast<const SetRecord&>(record);
    keep(one, "Memset", DL_ACTIVITY_SET, one.bytes);
  } else if (record.kind == kExternal) {
    const auto& one = reinterpret_cast<const ExternalRecord&>(record);
    if (one.external_kind == kOurCorrelation) correlations_[one.correlation] = one.id;
  }
}

}  // namespace dl::cuda
