// Handles of a library that convolves, and the plans made with them, for one thread at a time.
//
//   dl::kit::ConvolutionSeat<Handle, Plan>& seat = dl::kit::own_seat<Handle, Plan>();
//   const Handle handle = seat.handle(device, [] { return created(); });
//   const auto plan = seat.plans().get(ConvolutionKey(device, call, false), [&] { … });
#ifndef DL_KIT_CONVOLUTION_SEATS_H_
#define DL_KIT_CONVOLUTION_SEATS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/convolution.h"
#include "dl/kit/lru.h"

DL_KIT_BEGIN

// What decides which plan is the best.
class ConvolutionKey {
 public:
  // `alignments`: the library's plans depend on how tensors are aligned.
  ConvolutionKey(uintptr_t device, const Convolution& call, bool alignments) {
    add(static_cast<int64_t>(device));
    add(static_cast<int64_t>(call.direction));
    add(call.axes);
    add(call.prepare ? 1 : 0);
    for (const Images* images : {&call.input, &call.weight, &call.output}) {
      add(images->dtype);
      add(alignments ? alignment_of(images->data) : 0);
      for (int d = 0; d < call.dimensions(); ++d) {
        add(images->sizes[d]);
        add(images->strides[d]);
      }
    }
    for (int axis = 0; axis < call.axes; ++axis) {
      for (const int64_t* values : {call.stride, call.dilation, call.before, call.after})
        add(values[axis]);
    }
  }
  bool operator==(const ConvolutionKey& other) const { return values_ == other.values_; }
  size_t hash() const {
    size_t hash = 0;
    for (const int64_t value : values_) hash = hash * 1000003U + std::hash<int64_t>()(value);
    return hash;
  }

 private:
  void add(int64_t value) { values_[used_++] = value; }

  std::array<int64_t, 4 + 3 * 12 + 3 * 4> values_{};
  size_t used_ = 0;
};
struct ConvolutionKeyHash {
  size_t operator()(const ConvolutionKey& key) const { return key.hash(); }
};

// A handle for each device, and the plans made for them.
template <class Handle, class Plan>
class ConvolutionSeat {
 public:
  // What `create()` makes for the current device, whose number this is. Null: the library does not
  // start on it; it is asked once.
  template <class Create>
  Handle handle(uintptr_t device, const Create& create) {
    const auto [place, is_new] = handles_.try_emplace(device, nullptr);
    if (is_new) place->second = create();
    return place->second;
  }
  Lru<ConvolutionKey, Plan, ConvolutionKeyHash>& plans() { return plans_; }

 private:
  static constexpr size_t kMostPlans = 1024;
  std::map<uintptr_t, Handle> handles_;
  Lru<ConvolutionKey, Plan, ConvolutionKeyHash> plans_{kMostPlans};
};

// Threads that end leave their seats to others. None is ever taken apart: dropping a handle waits
// for its device, which at the end of a process may be gone.
template <class Seat>
class Seats {
 public:
  static Seats& all() {
    static auto* const seats = new Seats;
    return *seats;
  }
  std::unique_ptr<Seat> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return std::make_unique<Seat>();
    auto seat = std::move(free_.back());
    free_.pop_back();
    return seat;
  }
  void give_back(std::unique_ptr<Seat> seat) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(seat));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Seat>> free_;
};

// The thread's.
template <class Handle, class Plan>
ConvolutionSeat<Handle, Plan>& own_seat() {
  using Seat = ConvolutionSeat<Handle, Plan>;
  struct Own {
    std::unique_ptr<Seat> seat = Seats<Seat>::all().take();
    Own() = default;
    ~Own() { Seats<Seat>::all().give_back(std::move(seat)); }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;
  };
  thread_local Own own;
  return *own.seat;
}

DL_KIT_END

#endif  // DL_KIT_CONVOLUTION_SEATS_H_
