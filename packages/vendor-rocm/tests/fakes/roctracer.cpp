// A libroctracer64.so.4 for tests. It does not observe any work, but reports synthetic records: for
// each number that was pushed as an external correlation while device activity and calls were
// enabled, a kernel and a copy, both with that number, a memset without one, a barrier, and a
// kernel of device 7.
//
//   FAKE_ROCTRACER_FAIL=roctracer_open_pool_expl:-2   functions that fail, with the status
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "extensions/roctracer_api.h"

using namespace dl::rocm::roctracer;

namespace {

constexpr int kInvalidArgument = -3, kMismatched = -7;

std::set<uint32_t> enabled;
std::vector<uint64_t> pushed, waiting;
Properties pool{};
bool is_open = false;
uint64_t next_launch = 1, next_time = 1000;
const char* last_error = "";

int injected_status(const char* function) {
  const char* given = std::getenv("FAKE_ROCTRACER_FAIL");
  const std::string list = "," + std::string(given == nullptr ? "" : given);
  const size_t at = list.find("," + std::string(function) + ":");
  if (at == std::string::npos) return kSuccess;
  last_error = "injected failure";
  return std::atoi(list.c_str() + at + std::strlen(function) + 2);
}

Record timed(uint32_t op, uint32_t kind, int device, uint64_t launch) {
  Record record{};
  record.domain = kDevices;
  record.op = op;
  record.kind = kind;
  record.device = device;
  record.queue = 3;
  record.correlation = launch;
  record.start = next_time += 10;
  record.end = record.start + 5;
  return record;
}
Record external(uint64_t launch, uint64_t id) {
  Record record{};
  record.domain = kExternal;
  record.op = kExternalId;
  record.correlation = launch;
  record.external = id;
  return record;
}

// Command kinds, as numbered by roctracer_op_string.
constexpr uint32_t kKernelKind = 1, kToDevice = 2, kFill = 3, kMarker = 4;
constexpr uint32_t kBarrier = 2;

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int code = injected_status(#function)) return code

FAKE const char* roctracer_error_string() { return last_error; }
FAKE const char* roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind) {
  if (domain != kDevices || op != kCopy) return nullptr;
  return kind == kToDevice ? "CopyHostToDevice" : kind == kFill ? "FillBuffer" : nullptr;
}
FAKE int roctracer_set_properties(uint32_t domain, void* properties) {
  return domain == kCalls && properties == nullptr ? int(kSuccess) : kInvalidArgument;
}
FAKE int roctracer_open_pool_expl(const Properties* properties, void** out) {
  ENTER(roctracer_open_pool_expl);
  if (is_open || properties == nullptr || properties->completed == nullptr ||
      properties->buffer_bytes < sizeof(Record))
    return kInvalidArgument;
  pool = *properties;
  is_open = true;
  *out = &pool;
  return kSuccess;
}
FAKE int roctracer_enable_domain_activity_expl(uint32_t domain, void* of) {
  ENTER(roctracer_enable_domain_activity_expl);
  if (of != &pool || !is_open) return kInvalidArgument;
  enabled.insert(domain);
  return kSuccess;
}
FAKE int roctracer_disable_domain_activity(uint32_t domain) {
  enabled.erase(domain);
  return kSuccess;
}
FAKE int roctracer_flush_activity_expl(void* of) {
  ENTER(roctracer_flush_activity_expl);
  if (of != &pool || !is_open) return kInvalidArgument;
  std::vector<Record> all;
  for (const uint64_t id : waiting) {
    Record kernel = timed(kKernel, kKernelKind, 0, next_launch);
    kernel.kernel = "_Z4workPf";
    all.push_back(external(next_launch++, id));
    Record copy = timed(kCopy, kToDevice, 0, next_launch);
    copy.bytes = 4096;
    // Records of a device are not ordered.
    all.push_back(copy);
    all.push_back(kernel);
    all.push_back(external(next_launch++, id));
    Record set = timed(kCopy, kFill, 0, next_launch++);
    set.bytes = 16;
    all.push_back(set);
    all.push_back(timed(kBarrier, kMarker, 0, next_launch++));
    Record other = timed(kKernel, kKernelKind, 7, next_launch++);
    other.kernel = "other";
    all.push_back(other);
  }
  waiting.clear();
  const char* const begin = reinterpret_cast<const char*>(all.data());
  if (!all.empty())
    pool.completed(begin, begin + all.size() * sizeof(Record), pool.completed_argument);
  return kSuccess;
}
FAKE int roctracer_next_record(const Record* record, const Record** next) {
  *next = record + 1;
  return kSuccess;
}
FAKE int roctracer_get_timestamp(uint64_t* moment) {
  *moment = next_time += 10;
  return kSuccess;
}
FAKE int roctracer_activity_push_external_correlation_id(uint64_t id) {
  pushed.push_back(id);
  // Without HIP calls, there is nothing to attach a number to.
  if (enabled.count(kDevices) != 0 && enabled.count(kCalls) != 0) waiting.push_back(id);
  return kSuccess;
}
FAKE int roctracer_activity_pop_external_correlation_id(uint64_t* last) {
  if (pushed.empty()) return kMismatched;
  *last = pushed.back();
  pushed.pop_back();
  return kSuccess;
}
