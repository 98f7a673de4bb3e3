/* What the card's driver keeps of each card: its memory, its streams, and where work stands. */
#ifndef DL_CARD_DRIVER_H_
#define DL_CARD_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "card.h"
#include "work_queue.h"

#pragma GCC visibility push(hidden)

namespace card {

constexpr int kMostDevices = 64;

inline thread_local int current = 0;
inline thread_local cardError_t last_error = cardSuccess;

struct Device {
  std::mutex mutex;
  std::map<uintptr_t, size_t> live;  // host address -> bytes
  size_t used = 0;
  bool failed = false;
};

}  // namespace card

// Streams are never freed: a stale handle must be found out.
struct cardStream : card::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
};

struct cardEvent {
  int device;
  bool timing;
  std::shared_ptr<card::Point> latest;
};

namespace card {

struct Driver {
  const int count;
  const size_t memory;  // of each card
  Device devices[kMostDevices];
  std::mutex mutex;
  std::vector<std::vector<std::unique_ptr<cardStream>>> streams;  // [0] is the default one

  Driver();
};

Driver& driver();

// The host's address of `bytes` on a card; 0 where they are not all in one allocation of it.
uintptr_t untagged(int device, const void* pointer, size_t bytes);
// The address that a program sees of a card's memory.
uintptr_t tagged(int device, uintptr_t address);

// The stream behind a handle, if it is one of the current card.
cardStream* find(cardStream_t stream);

// The failure of a kernel on the current card, once.
cardError_t report();

}  // namespace card

#pragma GCC visibility pop

#endif
