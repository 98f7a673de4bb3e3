#include "card.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// An address says whose it is, and is none of the host's: no processor lets a program use bit 62.
constexpr uintptr_t kCardBit = uintptr_t{1} << 62;
constexpr int kDeviceShift = 52;
constexpr int kMostDevices = 64;
constexpr size_t kAlignment = 256;

// A point in a stream: finished once all before it has run.
struct Point {
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  Clock::time_point time;

  void finish() {
    const std::lock_guard<std::mutex> lock(mutex);
    finished = true;
    time = Clock::now();
    changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return finished; });
  }
  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex);
    return finished;
  }
};

thread_local int current = 0;
thread_local cardError_t last_error = cardSuccess;
thread_local int running_on = -1;  // the card, on the thread of a stream
thread_local bool kernel_failed = false;

size_t number_from(const char* variable, size_t standard) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? standard : std::strtoull(text, nullptr, 10);
}

struct Device {
  std::mutex mutex;
  std::map<uintptr_t, size_t> live;  // host address -> bytes
  size_t used = 0;
  bool failed = false;
};

}  // namespace

// A queue that one thread, which never ends, works off. Streams are never freed: a stale handle
// must be found out.
struct cardStream {
  const int device;
  bool destroyed = false;

  explicit cardStream(int owner) : device(owner) {}

  void push(std::function<void()> item) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!started) std::thread([this] { work(); }).detach();
    started = true;
    items.push_back(std::move(item));
    ++pushed;
    changed.notify_all();
  }
  void synchronize() {
    std::unique_lock<std::mutex> lock(mutex);
    const uint64_t target = pushed;
    changed.wait(lock, [&] { return done >= target; });
  }
  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex);
    return done == pushed;
  }
  void hold(bool whether) {
    const std::lock_guard<std::mutex> lock(mutex);
    held = whether;
    changed.notify_all();
  }

 private:
  void work() {
    running_on = device;
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !held && !items.empty(); });
      const std::function<void()> item = std::move(items.front());
      items.pop_front();
      lock.unlock();
      item();
      lock.lock();
      ++done;
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> items;
  uint64_t pushed = 0, done = 0;
  bool held = false, started = false;
};

struct cardEvent {
  int device;
  bool timing;
  std::shared_ptr<Point> latest;
};

namespace {

struct Driver {
  const int count =
      static_cast<int>(std::min<size_t>(number_from("CARD_DEVICES", 2), kMostDevices));
  const size_t memory = number_from("CARD_MEMORY", size_t{1} << 30);
  Device devices[kMostDevices];
  std::mutex mutex;
  std::vector<std::vector<std::unique_ptr<cardStream>>> streams;  // [0] is the default one

  Driver() : streams(static_cast<size_t>(std::max(count, 1))) {
    for (size_t i = 0; i < streams.size(); ++i)
      streams[i].push_back(std::make_unique<cardStream>(static_cast<int>(i)));
  }
};

// Never destroyed: the threads of streams end with the process.
Driver& driver() {
  static Driver* const made = new Driver;
  return *made;
}

uintptr_t tagged(int device, uintptr_t address) {
  return address | kCardBit | static_cast<uintptr_t>(device) << kDeviceShift;
}

// The host's address of `bytes` on a card; 0 where they are not all in one allocation of it.
uintptr_t untagged(int device, const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const uintptr_t tag = tagged(device, 0);
  constexpr uintptr_t kTagBits = ~((uintptr_t{1} << kDeviceShift) - 1);
  if ((address & kTagBits) != tag) return 0;
  const uintptr_t real = address & ~kTagBits;
  Device& owner = driver().devices[device];
  const std::lock_guard<std::mutex> lock(owner.mutex);
  const auto next = owner.live.upper_bound(real);
  if (next == owner.live.begin()) return 0;
  const auto block = std::prev(next);
  const size_t inside = real - block->first;
  return inside <= block->second && bytes <= block->second - inside ? real : 0;
}

// The stream behind a handle, if it is one of the current card.
cardStream* find(cardStream_t stream) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  auto& streams = driver().streams[static_cast<size_t>(current)];
  if (stream == nullptr) return streams[0].get();
  for (const auto& known : streams) {
    if (known.get() == stream && !known->destroyed) return stream;
  }
  return nullptr;
}

void* memory_of_kernel(const void* address, size_t bytes) {
  const uintptr_t found = untagged(running_on, address, bytes);
  if (found == 0) kernel_failed = true;
  return reinterpret_cast<void*>(found);
}

bool is_current(cardEvent_t event) { return event != nullptr && event->device == current; }

// The failure of a kernel on the current card, once.
cardError_t report() {
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  return std::exchange(device.failed, false) ? cardErrorLaunchFailure : cardSuccess;
}

}  // namespace

const char* cardGetErrorString(cardError_t error) {
  switch (error) {
    case cardSuccess:
      return "no error";
    case cardErrorInvalidValue:
      return "invalid value: it is no memory of the current card";
    case cardErrorMemoryAllocation:
      return "out of memory";
    case cardErrorNoDevice:
      return "there is no card";
    case cardErrorInvalidDevice:
      return "no card of that number, or not the current one";
    case cardErrorInvalidHandle:
      return "the stream or event is none of the current card";
    case cardErrorNotReady:
      return "not ready";
    case cardErrorLaunchFailure:
      return "a kernel used memory that its card does not have";
  }
  return "unknown error";
}

cardError_t cardGetLastError(void) { return std::exchange(last_error, cardSuccess); }

cardError_t cardGetDeviceCount(int* count) {
  *count = driver().count;
  return *count == 0 ? cardErrorNoDevice : cardSuccess;
}
cardError_t cardGetDevice(int* device) {
  *device = current;
  return cardSuccess;
}
cardError_t cardSetDevice(int device) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  current = device;
  return cardSuccess;
}
cardError_t cardGetName(char* name, size_t size, int device) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  std::snprintf(name, size, "test card %d", device);
  return cardSuccess;
}
cardError_t cardDeviceSynchronize(void) {
  std::vector<cardStream*> all;
  {
    const std::lock_guard<std::mutex> lock(driver().mutex);
    for (const auto& stream : driver().streams[static_cast<size_t>(current)])
      all.push_back(stream.get());
  }
  for (cardStream* stream : all) stream->synchronize();
  return report();
}

cardError_t cardMalloc(void** memory, size_t bytes) {
  Device& device = driver().devices[current];
  {
    const std::lock_guard<std::mutex> lock(device.mutex);
    if (bytes > driver().memory - device.used) return last_error = cardErrorMemoryAllocation;
    device.used += bytes;
  }
  void* made = nullptr;
  if (posix_memalign(&made, kAlignment, bytes) != 0) return cardErrorMemoryAllocation;
  std::memset(made, 0xFF, bytes);  // NaN: nothing is there until it is written
  const auto address = reinterpret_cast<uintptr_t>(made);
  const std::lock_guard<std::mutex> lock(device.mutex);
  device.live[address] = bytes;
  *memory = reinterpret_cast<void*>(tagged(current, address));
  return cardSuccess;
}
cardError_t cardFree(void* memory) {
  const uintptr_t address = untagged(current, memory, 0);
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  const auto found = device.live.find(address);
  if (found == device.live.end()) return cardErrorInvalidValue;
  std::memset(reinterpret_cast<void*>(address), 0xDB, found->second);
  device.used -= found->second;
  device.live.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return cardSuccess;
}
cardError_t cardMallocHost(void** memory, size_t bytes) {
  return posix_memalign(memory, 64, bytes) == 0 ? cardSuccess : cardErrorMemoryAllocation;
}
cardError_t cardFreeHost(void* memory) {
  std::free(memory);
  return cardSuccess;
}
cardError_t cardMemGetInfo(size_t* free_bytes, size_t* total) {
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  *total = driver().memory;
  *free_bytes = *total - device.used;
  return cardSuccess;
}

cardError_t cardMemcpyAsync(void* to, const void* from, size_t bytes, cardMemcpyKind kind,
                            cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  auto target = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
  if (kind != cardMemcpyDeviceToHost) target = untagged(current, to, bytes);
  if (kind != cardMemcpyHostToDevice) source = untagged(current, from, bytes);
  if (target == 0 || source == 0) return cardErrorInvalidValue;
  stream->push([=] {
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
  });
  return cardSuccess;
}
cardError_t cardMemsetAsync(void* memory, int value, size_t bytes, cardStream_t handle) {
  cardStream* stream = find(handle);
  const uintptr_t target = untagged(current, memory, bytes);
  if (stream == nullptr) return cardErrorInvalidHandle;
  if (target == 0) return cardErrorInvalidValue;
  stream->push([=] { std::memset(reinterpret_cast<void*>(target), value, bytes); });
  return cardSuccess;
}

cardError_t cardStreamCreateWithPriority(cardStream_t* stream, unsigned, int) {
  auto made = std::make_unique<cardStream>(current);
  *stream = made.get();
  const std::lock_guard<std::mutex> lock(driver().mutex);
  driver().streams[static_cast<size_t>(current)].push_back(std::move(made));
  return cardSuccess;
}
cardError_t cardStreamDestroy(cardStream_t handle) {
  cardStream* stream = handle == nullptr ? nullptr : find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  const std::lock_guard<std::mutex> lock(driver().mutex);
  stream->destroyed = true;
  return cardSuccess;
}
cardError_t cardStreamSynchronize(cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  stream->synchronize();
  return report();
}
cardError_t cardStreamQuery(cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  return stream->is_finished() ? cardSuccess : cardErrorNotReady;
}
cardError_t cardStreamWaitEvent(cardStream_t handle, cardEvent_t event, unsigned) {
  cardStream* stream = find(handle);
  // Of any card: that is what such waits are for.
  if (stream == nullptr || event == nullptr) return cardErrorInvalidHandle;
  if (auto point = event->latest) stream->push([point] { point->wait(); });
  return cardSuccess;
}

cardError_t cardEventCreateWithFlags(cardEvent_t* event, unsigned flags) {
  *event = new cardEvent{current, (flags & cardEventDisableTiming) == 0, nullptr};
  return cardSuccess;
}
cardError_t cardEventDestroy(cardEvent_t event) {
  if (!is_current(event)) return cardErrorInvalidHandle;
  delete event;
  return cardSuccess;
}
cardError_t cardEventRecord(cardEvent_t event, cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr || !is_current(event)) return cardErrorInvalidHandle;
  auto point = std::make_shared<Point>();
  event->latest = point;
  stream->push([point] { point->finish(); });
  return cardSuccess;
}
cardError_t cardEventSynchronize(cardEvent_t event) {
  if (!is_current(event)) return cardErrorInvalidHandle;
  if (auto point = event->latest) point->wait();
  return report();
}
cardError_t cardEventQuery(cardEvent_t event) {
  if (!is_current(event)) return cardErrorInvalidHandle;
  return event->latest == nullptr || event->latest->is_finished() ? cardSuccess : cardErrorNotReady;
}
cardError_t cardEventElapsedTime(float* milliseconds, cardEvent_t start, cardEvent_t end) {
  if (!is_current(start) || !is_current(end)) return cardErrorInvalidHandle;
  if (!start->timing || !end->timing || start->latest == nullptr || end->latest == nullptr)
    return cardErrorInvalidHandle;
  if (!start->latest->is_finished() || !end->latest->is_finished()) return cardErrorNotReady;
  const auto passed = end->latest->time - start->latest->time;
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return cardSuccess;
}

cardError_t cardLaunch(void (*kernel)(const void*, cardMemory_t), const void* arguments,
                       size_t bytes, cardStream_t handle) {
  if (last_error != cardSuccess) return cardGetLastError();
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  const auto* first = static_cast<const unsigned char*>(arguments);
  stream->push([kernel, copy = std::vector<unsigned char>(first, first + bytes)] {
    kernel_failed = false;
    kernel(copy.data(), memory_of_kernel);
    if (!kernel_failed) return;
    Device& device = driver().devices[running_on];
    const std::lock_guard<std::mutex> lock(device.mutex);
    device.failed = true;
  });
  return cardSuccess;
}

cardError_t cardHold(int device, int hold) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  driver().streams[static_cast<size_t>(device)][0]->hold(hold != 0);
  return cardSuccess;
}
cardError_t cardLiveAllocations(int device, size_t* count) {
  if (device < 0 || device >= driver().count) return cardErrorInvalidDevice;
  const std::lock_guard<std::mutex> lock(driver().devices[device].mutex);
  *count = driver().devices[device].live.size();
  return cardSuccess;
}
