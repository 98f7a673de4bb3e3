#include "library/convolution.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "dl/kit/lru.h"
#include "library/convolution_layout.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::cuda {
namespace {

using namespace cudnn;

constexpr size_t kMostPlans = 1024;

// What decides which plan is the best.
class Key {
 public:
  Key(driver::Context context, const Convolution& call) {
    add(reinterpret_cast<int64_t>(context));
    add(static_cast<int64_t>(call.direction));
    add(call.axes);
    add(call.prepare ? 1 : 0);
    for (const Images* images : {&call.input, &call.weight, &call.output}) {
      add(images->dtype);
      add(alignment_of(images->data));
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
  bool operator==(const Key& other) const { return values_ == other.values_; }
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
struct KeyHash {
  size_t operator()(const Key& key) const { return key.hash(); }
};

// A handle for each card, and the plans made for them: one thread's at a time.
class Seat {
 public:
  // Null: the library does not start on this card; it is asked once.
  Handle handle(driver::Context context) {
    const auto [place, is_new] = handles_.try_emplace(context, nullptr);
    if (is_new && library()->create(&place->second) != kSuccess) place->second = nullptr;
    return place->second;
  }
  kit::Lru<Key, Plan, KeyHash>& plans() { return plans_; }

 private:
  std::map<driver::Context, Handle> handles_;
  kit::Lru<Key, Plan, KeyHash> plans_{kMostPlans};
};

// Threads that end leave their seats to others. None is ever taken apart: dropping a handle waits
// for its device, which at the end of a process may be gone.
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

class OwnSeat {
 public:
  OwnSeat() : seat_(Seats::all().take()) {}
  ~OwnSeat() { Seats::all().give_back(std::move(seat_)); }
  OwnSeat(const OwnSeat&) = delete;
  OwnSeat& operator=(const OwnSeat&) = delete;
  Seat& get() { return *seat_; }

 private:
  std::unique_ptr<Seat> seat_;
};

}  // namespace

namespace cudnn {

Library* library() {
  static Library* const found = []() -> Library* {
    if (!libraries_wanted()) return nullptr;
    static Library opened;
    // cuDNN opens it when a graph is made, and ends the process where it finds none.
    static kit::Library blaslt(blaslt_companion().names(), "cuBLASLt",
                               blaslt_companion().way_out());
    try {
      const bool is_known =
          opened.version() >= kOldest && opened.runtime_version() >= kOldestRuntime;
      return is_known && opened.execute.available() && blaslt.has("cublasLtMatmul") ? &opened
                                                                                    : nullptr;
    } catch (const kit::Error&) {
      return nullptr;
    }
  }();
  return found;
}

}  // namespace cudnn

bool convolve_by_library(Convolution call) {
  if (library() == nullptr) return false;
  for (const Images* images : {&call.input, &call.weight, &call.output}) {
    if (type_of(images->dtype) < 0) return false;
  }
  driver::Context context = nullptr;
  if (!settle_strides(&call) || the_driver().context_current(&context) != driver::kSuccess)
    return false;
  thread_local OwnSeat own;
  const Handle handle = own.get().handle(context);
  if (handle == nullptr) return false;
  const auto plan =
      own.get().plans().get(Key(context, call), [&] { return Plan::make(handle, call); });
  return plan->possible() && plan->run(handle, call);
}

}  // namespace dl::cuda
