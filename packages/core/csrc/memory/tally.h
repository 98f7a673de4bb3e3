// A counter of the allocator: the current value, its peak, and the totals.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <cstdint>

namespace dl::core {

// Three values instead of torch's four, because every allocation updates three counters.
class Tally {
 public:
  void increase(int64_t amount) {
    current_ += amount;
    added_ += amount;
    peak_ = std::max(peak_, current_);
  }
  void decrease(int64_t amount) { current_ -= amount; }

  int64_t current() const { return current_; }

  void reset_accumulated() {
    added_before_ = added_;
    removed_before_ = removed();
  }
  void reset_peak() { peak_ = current_; }

  c10::CachingAllocator::Stat stat() const {
    c10::CachingAllocator::Stat made;
    made.current = current_;
    made.peak = peak_;
    made.allocated = added_ - added_before_;
    made.freed = removed() - removed_before_;
    return made;
  }

 private:
  int64_t removed() const { return added_ - current_; }

  int64_t current_ = 0;
  int64_t peak_ = 0;
  int64_t added_ = 0;
  int64_t added_before_ = 0;
  int64_t removed_before_ = 0;
};

}  // namespace dl::core
