// The part of libascendcl that tests of the operator library alone need: one device, whose memory
// the host cannot access, and streams that are threads.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "../../common/work_queue.h"
#include "../hooks.h"

namespace {

using namespace fake_driver;

constexpr uintptr_t kDeviceBit = uintptr_t{1} << 62;
constexpr size_t kPadding = 64;
constexpr unsigned char kPoison = 0xEB;

struct Stream : WorkQueue {
  Stream() : WorkQueue(0) {}
  std::mutex mutex;
  int error = 0;
};

struct State {
  std::mutex mutex;
  std::map<uintptr_t, size_t> live;
  std::map<Stream*, bool> streams;
  Stream standard;
};
State& state() {
  static State* const made = new State;
  return *made;
}
thread_local int current = -1;
thread_local char text[512];

Stream* find(void* stream) {
  if (stream == nullptr) return &state().standard;
  const std::lock_guard<std::mutex> lock(state().mutex);
  auto* wanted = static_cast<Stream*>(stream);
  return state().streams.count(wanted) != 0 ? wanted : nullptr;
}

}  // namespace

extern "C" {

void* fakeAclHostAddress(int32_t device, const void* address, size_t bytes) {
  const auto tagged = reinterpret_cast<uintptr_t>(address);
  if (device != 0 || (tagged & kDeviceBit) == 0) return nullptr;
  const uintptr_t real = tagged & ~kDeviceBit;
  const std::lock_guard<std::mutex> lock(state().mutex);
  auto next = state().live.upper_bound(real);
  if (next == state().live.begin()) return nullptr;
  --next;
  const size_t inside = real - next->first;
  return inside <= next->second && bytes <= next->second - inside ? reinterpret_cast<void*>(real)
                                                                  : nullptr;
}
int32_t fakeAclCurrentDevice(void) { return current; }
int32_t fakeAclStreamDevice(void* stream) {
  return find(stream) == nullptr || (stream == nullptr && current < 0) ? -1 : 0;
}
int fakeAclEnqueue(void* stream, int (*work)(void*), void* argument, void (*release)(void*)) {
  Stream* queue = find(stream);
  if (queue == nullptr) return release(argument), 107003;
  queue->push([=] {
    const int code = work(argument);
    release(argument);
    const std::lock_guard<std::mutex> lock(queue->mutex);
    if (queue->error == 0) queue->error = code;
  });
  return 0;
}
void fakeAclSetErrorText(const char* message) { std::strncpy(text, message, sizeof text - 1); }

DL_FAKE_ACL_API const char* aclGetRecentErrMsg(void) { return text; }
DL_FAKE_ACL_API int aclInit(const char*) { return 0; }
DL_FAKE_ACL_API int aclrtSetDevice(int32_t device) {
  if (device != 0) return 107001;
  current = device;
  return 0;
}
DL_FAKE_ACL_API int aclrtMalloc(void** memory, size_t bytes, int) {
  void* block = nullptr;
  if (bytes == 0 || posix_memalign(&block, 64, bytes + kPadding) != 0) return 207001;
  std::memset(block, 0xFF, bytes);
  std::memset(static_cast<char*>(block) + bytes, kPoison, kPadding);
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().live[reinterpret_cast<uintptr_t>(block)] = bytes;
  *memory = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) | kDeviceBit);
  return 0;
}
DL_FAKE_ACL_API int aclrtFree(void* memory) {
  void* block = fakeAclHostAddress(0, memory, 0);
  const std::lock_guard<std::mutex> lock(state().mutex);
  const auto found = state().live.find(reinterpret_cast<uintptr_t>(block));
  if (found == state().live.end()) return 107000;
  const auto* spare = static_cast<unsigned char*>(block) + found->second;
  for (size_t i = 0; i < kPadding; ++i) {
    if (spare[i] != kPoison) std::abort();
  }
  state().live.erase(found);
  std::free(block);
  return 0;
}
DL_FAKE_ACL_API int aclrtMemcpy(void* to, size_t, const void* from, size_t bytes, int kind) {
  if (kind != 2) to = fakeAclHostAddress(0, to, bytes);
  if (kind != 1) from = fakeAclHostAddress(0, from, bytes);
  if (to == nullptr || from == nullptr) return 107000;
  std::memcpy(to, from, bytes);
  return 0;
}
DL_FAKE_ACL_API int aclrtCreateStream(void** stream) {
  auto* made = new Stream;
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().streams[made] = true;
  *stream = made;
  return 0;
}
DL_FAKE_ACL_API int aclrtDestroyStream(void* stream) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().streams.erase(static_cast<Stream*>(stream)) == 1 ? 0 : 107003;
}
DL_FAKE_ACL_API int aclrtSynchronizeStream(void* stream) {
  Stream* queue = find(stream);
  if (queue == nullptr) return 107003;
  queue->synchronize();
  const std::lock_guard<std::mutex> lock(queue->mutex);
  return std::exchange(queue->error, 0);
}

}  // extern "C"
