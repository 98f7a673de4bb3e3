// Shared declarations of the fake libamdhip64; fake_hip.cpp documents its behavior.
#ifndef FAKE_HIP_FAKE_HIP_H_
#define FAKE_HIP_FAKE_HIP_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../common/settings.h"
#include "../common/work_queue.h"
#include "dl/kit/hip_driver.h"
#include "emulated_image.h"

#pragma GCC visibility push(hidden)

namespace fake {
struct Capture;
}

namespace dl::kit::hip {

struct StreamObject : fake_driver::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
  // the capture that it is part of, guarded by the mutex of captures
  std::shared_ptr<fake::Capture> capture;
};
struct EventObject {
  int device;
  bool timing;
  std::shared_ptr<fake_driver::Point> latest;
  // The capture in which it was last recorded, if any.
  std::shared_ptr<fake::Capture> capture;
  StreamObject* captured_on = nullptr;
};
struct ModuleObject {
  int device;
  const emulated::Image* emulated;  // null for a code object
  std::string code;                 // contents of the code object
  void* library = nullptr;          // handle of a fake compiler's library
  std::shared_ptr<bool> loaded = std::make_shared<bool>(true);
};
struct KernelObject {
  int device;
  const emulated::Image* emulated;
  std::weak_ptr<bool> loaded;  // expires when its module is unloaded
};

}  // namespace dl::kit::hip

namespace fake {

using namespace dl::kit::hip;

constexpr int kMaxDevices = 8;
// Limits of a block: threads, and bytes of shared memory.
constexpr int kMostThreads = 1024;
constexpr int kMostShared = 64 << 10;

// Memory of one device. Every allocation is protected from the host and accessible while the device
// works. It is stored in an anonymous file, so that other processes can map it too.
class Memory {
 public:
  // Returns null if the device has no room.
  void* allocate(size_t bytes);
  // Returns 0 or an error: kInvalidValue, or an illegal address (700) if a kernel wrote past the
  // end of the allocation.
  Code release(void* address);
  // Returns true if the memory is inside one allocation.
  bool holds(const void* address, size_t bytes);
  // Finds the allocation that contains an address. Returns false if there is none.
  bool range(const void* address, void** begin, size_t* bytes);

  // Export an allocation by its address, and map another process's by its handle. Return false or
  // null if the argument is invalid.
  bool share(const void* address, IpcHandle* handle);
  void* attach(const IpcHandle& handle);
  bool detach(void* address);
  size_t used();
  size_t total();

  // Called before and after all work on the device.
  void open();
  void close();

 private:
  struct Piece {
    void* begin;
    size_t mapped;  // without the guard page after it
    size_t bytes;   // requested size
    off_t offset;   // in the file; negative for memory of another process
  };
  using Pieces = std::map<uintptr_t, Piece>;  // by the returned address
  void protect(const Piece& piece, bool whether);
  void* map(int file, off_t offset, size_t mapped, size_t reserved, size_t bytes);
  Pieces::iterator piece_of(const void* address);

  std::mutex mutex_;
  Pieces pieces_;
  int file_ = -1;
  off_t end_ = 0;  // size of the file
  size_t used_ = 0;
  int open_ = 0;
};

struct Device {
  Memory memory;
  std::atomic<unsigned> peers{0};  // one bit for each device whose memory its kernels can access
  std::mutex mutex;
  std::vector<std::unique_ptr<StreamObject>> streams;  // [0] is the default stream
  std::vector<std::unique_ptr<EventObject>> events;
};

// Number of devices, and the architecture of one: "gfx90a".
int count();
std::string processor(int device);
// Threads per wave: 64 up to gfx9, 32 since.
int wave(int device);

Device& device_of(int number);
inline thread_local int current = 0;
inline Device& here() { return device_of(current); }

// Logs a call and returns the error that is injected into it. `waits`: the call makes the host wait
// for a device.
Code enter(const char* function, bool waits = false);

// Records the code as the thread's last error and returns it.
Code note(Code code);

// Returns the stream of a handle if it belongs to the current device, or null.
StreamObject* find(Stream stream);
EventObject* find(Event event);
// Runs work on a stream while the memory of its device, and of the peers that it can access, is
// accessible; or adds it to the stream's capture.
void push(StreamObject& stream, std::function<void()> work);
// Returns kSuccess if the stream is not capturing. Otherwise the call is not allowed: invalidates
// the capture and returns the error.
Code needs_running(StreamObject& stream);
Code needs_running_device();
// Waits for all streams of the current device.
void wait_for_all();

}  // namespace fake

#pragma GCC visibility pop

// Exported explicitly, because their argument types belong to the kit and are hidden.
#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const Code failed = enter(#function)) return failed
#define ENTER_AND_WAIT(function) \
  if (const Code failed = enter(#function, true)) return failed

#endif  // FAKE_HIP_FAKE_HIP_H_
