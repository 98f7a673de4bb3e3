// A libcupti.so.13 for tests. It does not observe any work, but reports synthetic records: for each
// number that was pushed as an external correlation while kernels were enabled, a kernel on the
// default stream and a copy on the newest stream, both with that number; a memset on the default
// stream without one, and a kernel of device 7.
//
//   FAKE_CUPTI_FAIL=cuptiActivityEnable:35   functions that fail, with the result
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "extensions/cupti_api.h"

using namespace dl::cuda::cupti;
using dl::kit::cuda::Context;
using dl::kit::cuda::Stream;

namespace {

constexpr int kNoMore = 12, kNotEnabled = 1;
// Bytes by which real records are longer than the part that is read.
constexpr size_t kMore = 64;

Requested requested = nullptr;
Completed completed = nullptr;
std::set<int> enabled;
std::vector<uint64_t> pushed, waiting;
std::map<Stream, uint32_t> streams;
uint32_t next_launch = 1;
uint64_t next_time = 1000;

int injected_status(const char* function) {
  const char* given = std::getenv("FAKE_CUPTI_FAIL");
  const std::string list = "," + std::string(given == nullptr ? "" : given);
  const size_t at = list.find("," + std::string(function) + ":");
  return at == std::string::npos ? kSuccess
                                 : std::atoi(list.c_str() + at + std::strlen(function) + 2);
}

// Records, each preceded by its size.
std::vector<char> recorded;
template <class R>
void add(R record) {
  const size_t size = sizeof record + kMore;
  const size_t at = recorded.size();
  recorded.resize(at + sizeof size + size);
  std::memcpy(recorded.data() + at, &size, sizeof size);
  std::memcpy(recorded.data() + at + sizeof size, &record, sizeof record);
}

template <class R>
R timed(int kind, uint32_t device, uint32_t stream, uint32_t launch) {
  R record{};
  record.kind = kind;
  record.device = device;
  record.stream = stream;
  record.correlation = launch;
  record.start = next_time += 10;
  record.end = record.start + 5;
  return record;
}

void external(uint32_t launch, uint64_t id) {
  ExternalRecord record{};
  record.kind = kExternal;
  record.external_kind = kOurCorrelation;
  record.id = id;
  record.correlation = launch;
  add(record);
}

void record_all() {
  for (const uint64_t id : waiting) {
    auto kernel = timed<KernelRecord>(kKernel, 0, 7, next_launch);
    kernel.name = "_Z4workPf";
    external(next_launch++, id);
    uint32_t last = 7;
    for (const auto& [stream, number] : streams) last = std::max(last, number);
    auto copy = timed<CopyRecord>(kCopy, 0, last, next_launch);
    copy.copy_kind = 1;
    copy.bytes = 4096;
    // Records of a device are not ordered.
    add(copy);
    add(kernel);
    external(next_launch++, id);
    auto set = timed<SetRecord>(kSet, 0, 7, next_launch++);
    set.bytes = 16;
    add(set);
    add(timed<KernelRecord>(kKernel, 7, 7, next_launch++));
  }
  waiting.clear();
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int code = injected_status(#function)) return code

FAKE int cuptiGetResultString(int code, const char** text) {
  *text = code == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_OF_THE_FAKE";
  return kSuccess;
}
FAKE int cuptiActivityRegisterCallbacks(Requested buffer, Completed done) {
  ENTER(cuptiActivityRegisterCallbacks);
  if (buffer == nullptr || done == nullptr) return kNotEnabled;
  requested = buffer;
  completed = done;
  return kSuccess;
}
FAKE int cuptiActivityEnable(int kind) {
  ENTER(cuptiActivityEnable);
  if (requested == nullptr) return kNotEnabled;
  enabled.insert(kind);
  return kSuccess;
}
FAKE int cuptiActivityDisable(int kind) {
  enabled.erase(kind);
  return kSuccess;
}
FAKE int cuptiActivityFlushAll(uint32_t) {
  ENTER(cuptiActivityFlushAll);
  if (waiting.empty()) return kSuccess;
  record_all();
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  requested(&buffer, &size, &most);
  if (buffer == nullptr || size < recorded.size()) return kNotEnabled;
  std::memcpy(buffer, recorded.data(), recorded.size());
  const size_t valid = recorded.size();
  recorded.clear();
  completed(nullptr, 0, buffer, size, valid);
  return kSuccess;
}
FAKE int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, Record** record) {
  size_t at = 0;
  if (*record != nullptr) {
    uint8_t* const before = reinterpret_cast<uint8_t*>(*record);
    size_t size;
    std::memcpy(&size, before - sizeof size, sizeof size);
    at = static_cast<size_t>(before - buffer) + size;
  }
  if (at >= valid) return kNoMore;
  *record = reinterpret_cast<Record*>(buffer + at + sizeof(size_t));
  return kSuccess;
}
FAKE int cuptiActivityGetNumDroppedRecords(Context, uint32_t, size_t* dropped) {
  *dropped = 2;
  return kSuccess;
}
FAKE int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
  if (kind != kOurCorrelation) return kNotEnabled;
  pushed.push_back(id);
  // Without driver calls, there is nothing to attach a number to.
  if (enabled.count(kKernel) != 0 && enabled.count(kDriver) != 0 && enabled.count(kExternal) != 0)
    waiting.push_back(id);
  return kSuccess;
}
FAKE int cuptiActivityPopExternalCorrelationId(int kind, uint64_t* last) {
  if (kind != kOurCorrelation || pushed.empty()) return kNotEnabled;
  *last = pushed.back();
  pushed.pop_back();
  return kSuccess;
}
FAKE int cuptiGetTimestamp(uint64_t* moment) {
  *moment = next_time += 10;
  return kSuccess;
}
FAKE int cuptiGetStreamIdEx(Context context, Stream stream, uint8_t, uint32_t* id) {
  if (context == nullptr) return kNotEnabled;
  *id = stream == nullptr ? 7 : streams.try_emplace(stream, 13 + streams.size()).first->second;
  return kSuccess;
}
