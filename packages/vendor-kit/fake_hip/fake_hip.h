// What the parts of the fake libamdhip64 share. What it is like stands in fake_hip.cpp.
#ifndef FAKE_HIP_FAKE_HIP_H_
#define FAKE_HIP_FAKE_HIP_H_

#include <cstddef>
#include <cstdint>
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

namespace dl::kit::hip {

struct StreamObject : card::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
};
struct EventObject {
  int device;
  bool timing;
  std::shared_ptr<card::Point> latest;
};
struct ModuleObject {
  int device;
  const emulated::Image* emulated;  // null for a code object
  std::string code;                 // the object's bytes
};
struct KernelObject {
  int device;
  const emulated::Image* emulated;
};

}  // namespace dl::kit::hip

namespace fake {

using namespace dl::kit::hip;

constexpr int kMostCards = 8;

// Memory of one card. Every piece is closed to the host, and opened while the card works.
class Memory {
 public:
  // Null where the card has no room.
  void* allocate(size_t bytes);
  // 0, or what is wrong with it: kInvalidValue, or an illegal address (700) where a kernel wrote
  // past its end.
  Code release(void* address);
  // Whether all of it lies in one piece.
  bool holds(const void* address, size_t bytes);
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
  };
  void protect(const Piece& piece, bool whether);

  std::mutex mutex_;
  std::map<uintptr_t, Piece> pieces_;  // by the address that was handed out
  size_t used_ = 0;
  int open_ = 0;
};

struct Card {
  Memory memory;
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

// The stream behind a handle, if it is one of the current card; null.
StreamObject* find(Stream stream);
EventObject* find(Event event);
// Runs on a stream with the memory of its card open.
void push(StreamObject& stream, std::function<void()> work);
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
