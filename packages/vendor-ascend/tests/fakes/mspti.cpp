// A libmspti.so for tests. It does not observe any work, but reports synthetic records: for each
// number that was pushed as an external correlation while kernels and calls were enabled, a kernel
// and a copy, both with that number, a memset without one, and a kernel of device 7.
//
//   FAKE_MSPTI_FAIL=msptiSubscribe:4   functions that fail, with the status
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "extensions/mspti_api.h"

using namespace dl::ascend::mspti;

namespace {

constexpr int kInvalidParameter = 1, kEmpty = 5, kNoMoreRecords = 2;

std::set<int> enabled;
std::vector<uint64_t> pushed, waiting;
Requested requested = nullptr;
Completed completed = nullptr;
bool subscribed = false;
uint64_t next_launch = 1, next_time = 1000;

int injected_status(const char* function) {
  const char* given = std::getenv("FAKE_MSPTI_FAIL");
  const std::string list = "," + std::string(given == nullptr ? "" : given);
  const size_t at = list.find("," + std::string(function) + ":");
  return at == std::string::npos ? kSuccess
                                 : std::atoi(list.c_str() + at + std::strlen(function) + 2);
}

// A buffer of the client, filled with records.
struct Buffer {
  uint8_t* begin = nullptr;
  size_t size = 0, used = 0;

  template <class T>
  T* add(int kind) {
    T* const record = reinterpret_cast<T*>(begin + used);
    std::memset(static_cast<void*>(record), 0, sizeof *record);
    record->kind = kind;
    used += sizeof *record;
    return record;
  }
  template <class T>
  T* timed(int kind, uint32_t device, uint64_t launch) {
    T* const record = add<T>(kind);
    record->device = device;
    record->stream = 3;
    record->correlation = launch;
    record->start = next_time += 10;
    record->end = record->start + 5;
    return record;
  }
  void external(uint64_t launch, uint64_t id) {
    auto* const record = add<ExternalRecord>(kExternal);
    record->external_kind = kOurCorrelation;
    record->id = id;
    record->correlation = launch;
  }
};

size_t size_of(int kind) {
  switch (kind) {
    case kKernel:
      return sizeof(KernelRecord);
    case kSet:
      return sizeof(SetRecord);
    case kCopy:
      return sizeof(CopyRecord);
    default:
      return sizeof(ExternalRecord);
  }
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int code = injected_status(#function)) return code

FAKE int msptiSubscribe(Subscriber* out, void (*)(), void*) {
  ENTER(msptiSubscribe);
  if (subscribed) return kInvalidParameter;
  subscribed = true;
  *out = reinterpret_cast<Subscriber>(&subscribed);
  return kSuccess;
}
FAKE int msptiActivityRegisterCallbacks(Requested request, Completed complete) {
  ENTER(msptiActivityRegisterCallbacks);
  if (!subscribed || request == nullptr || complete == nullptr) return kInvalidParameter;
  requested = request;
  completed = complete;
  return kSuccess;
}
FAKE int msptiActivityEnable(int kind) {
  ENTER(msptiActivityEnable);
  enabled.insert(kind);
  return kSuccess;
}
FAKE int msptiActivityDisable(int kind) {
  enabled.erase(kind);
  return kSuccess;
}
FAKE int msptiActivityFlushAll(uint32_t) {
  ENTER(msptiActivityFlushAll);
  if (requested == nullptr) return kInvalidParameter;
  for (const uint64_t id : waiting) {
    Buffer buffer;
    size_t most = 0;
    requested(&buffer.begin, &buffer.size, &most);
    buffer.timed<KernelRecord>(kKernel, 0, next_launch)->name = "_Z4workPf";
    buffer.external(next_launch++, id);
    auto* const copy = buffer.timed<CopyRecord>(kCopy, 0, next_launch);
    copy->copy_kind = kHostToDevice;
    copy->bytes = 4096;
    buffer.external(next_launch++, id);
    buffer.timed<SetRecord>(kSet, 0, next_launch++)->bytes = 16;
    buffer.timed<KernelRecord>(kKernel, 7, next_launch++)->name = "other";
    completed(buffer.begin, buffer.size, buffer.used);
  }
  waiting.clear();
  return kSuccess;
}
FAKE int msptiActivityGetNextRecord(uint8_t* buffer, size_t valid, Record** record) {
  uint8_t* at =
      *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + size_of((*record)->kind);
  if (at >= buffer + valid) return kNoMoreRecords;
  *record = reinterpret_cast<Record*>(at);
  return kSuccess;
}
FAKE int msptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
  if (kind != kOurCorrelation) return kInvalidParameter;
  pushed.push_back(id);
  // Without calls, there is nothing to attach a number to.
  if (enabled.count(kKernel) != 0 && enabled.count(kCalls) != 0) waiting.push_back(id);
  return kSuccess;
}
FAKE int msptiActivityPopExternalCorrelationId(int, uint64_t* last) {
  if (pushed.empty()) return kEmpty;
  *last = pushed.back();
  pushed.pop_back();
  return kSuccess;
}
FAKE int msptiGetTimestamp(uint64_t* moment) {
  *moment = next_time += 10;
  return kSuccess;
}
