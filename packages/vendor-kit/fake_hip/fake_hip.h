// What the parts of the fake libamdhip64 share. What it is like stands in fake_hip.cpp.
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

#include "../card/settings.h"
#include "../card/work_queue.h"
#include "dl/kit/hip_driver.h"
#include "emulated_image.h"

#pragma GCC visibility push(hidden)

namespace fake {
struct Capture;
}

namespace dl::kit::hip {

struct StreamObject : card::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
  std::shared_ptr<fake::Capture> capture;  // that it is part of, under the lock of captures
};
struct EventObject {
  int device;
  bool timing;
  std::shared_ptr<card::Point> latest;
  // What it was last recorded in, if that was a capture.
  std::shared_ptr<fake::Capture> capture;
  StreamObject* captured_on = nullptr;
};
struct ModuleObject {
  int device;
  const emulated::Image* emulated;  // null for a code object
  std::string code;                 // the object's bytes
  void* library = nullptr;          // what a fake compiler made, opened
  std::shared_ptr<bool> loaded = std::make_shared<bool>(true);
};
struct KernelObject {
  int device;
  const emulated::Image* emulated;
  std::weak_ptr<bool> loaded;  // while its module is
};

}  // namespace dl::kit::hip

namespace fake {

using namespace dl::kit::hip;

constexpr int kMostCards = 8;
// Of a block: threads, and bytes of shared memory.
constexpr int kMostThreads = 1024;
constexpr int kMostShared = 64 << 10;

// Memory of one card. Every piece is closed to the host, and opened while the card works. It lies
// in a file without a name, so that another process can have it too.
class Memory {
 public:
  // Null where the card has no room.
  void* allocate(size_t bytes);
  // 0, or what is wrong with it: kInvalidValue, or an illegal address (700) where a kernel wrote
  // past its end.
  Code release(void* address);
  // Whether all of it lies in one piece.
  bool holds(const void* address, size_t bytes);
  // Of the piece that it lies in. False: there is none.
  bool range(const void* address, void** begin, size_t* bytes);

  // A piece for another process, by its own address, and one of another process here. False, or
  // null: it is none.
  bool share(const void* address, IpcHandle* handle);
  void* attach(const IpcHandle& handle);
  bool detach(void* address);
  size_t used();
  size_t total();

  // Around all that works on the card.
  void open();
  void close();

 private:
  struct Piece {
    void* begin;
    size_t mapped;  // without the gap behind it
    size_t bytes;   // as asked for
    off_t offset;   // in the file; negative for memory of another process
  };
  using Pieces = std::map<uintptr_t, Piece>;  // by the address that was handed out
  void protect(const Piece& piece, bool whether);
  void* map(int file, off_t offset, size_t mapped, size_t reserved, size_t bytes);
  Pieces::iterator piece_of(const void* address);

  std::mutex mutex_;
  Pieces pieces_;
  int file_ = -1;
  off_t end_ = 0;  // of the file
  size_t used_ = 0;
  int open_ = 0;
};

struct Card {
  Memory memory;
  std::atomic<unsigned> peers{0};  // a bit for each card whose memory its kernels reach
  std::mutex mutex;
  std::vector<std::unique_ptr<StreamObject>> streams;  // [0] is the default one
  std::vector<std::unique_ptr<EventObject>> events;
};

// How many cards there are, and the processor of one: "gfx90a".
int count();
std::string processor(int card);
// Threads of a wave: 64 up to gfx9, 32 since.
int wave(int card);

Card& card_of(int number);
inline thread_local int current = 0;
inline Card& here() { return card_of(current); }

// What a call has to return before it does anything. `waits`: the host waits in it for a card.
Code enter(const char* function, bool waits = false);

// Leaves the code behind as the thread's last error, and returns it.
Code note(Code code);

// The stream behind a handle, if it is one of the current card; null.
StreamObject* find(Stream stream);
EventObject* find(Event event);
// Runs on a stream with the memory of its card, and of those that it reaches, open; or becomes a
// node of the stream's capture.
void push(StreamObject& stream, std::function<void()> work);
// What a call that needs that the stream runs has to return: kSuccess where it captures nothing.
// Otherwise the capture is of no use any more.
Code needs_running(StreamObject& stream);
Code needs_running_card();
// Waits for all streams of the current card.
void wait_for_all();

}  // namespace fake

#pragma GCC visibility pop

// Their arguments have types of the kit, which is hidden.
#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const Code failed = enter(#function)) return failed
#define ENTER_AND_WAIT(function) \
  if (const Code failed = enter(#function, true)) return failed

#endif  // FAKE_HIP_FAKE_HIP_H_
