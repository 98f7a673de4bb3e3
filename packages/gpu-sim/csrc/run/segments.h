#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "clocks.h"

namespace sim {

/** Segments of a launch, by number.
 *
 * The history of a byte has numbers of several launches, some of which may run at the same time on
 * other streams. Numbers are therefore unique in the process and never reused; a launch takes them
 * in chunks, and in ascending order.
 */
class Segments {
 public:
  uint32_t add(const Segment& segment) {
    const auto used = static_cast<uint32_t>(all_.size());
    if (used % kChunk == 0) take_chunk(used / kChunk);
    all_.push_back(segment);
    return last_chunk_ * kChunk + used % kChunk;
  }

  /** Return a segment of this launch; null for a number of another launch, and for 0. */
  const Segment* find(uint32_t number) const {
    const uint32_t chunk = number / kChunk - first_chunk_;  // wraps for earlier numbers
    if (chunk >= places_.size() || places_[chunk] == kForeign) return nullptr;
    return &all_[size_t{places_[chunk]} * kChunk + number % kChunk];
  }

 private:
  static constexpr uint32_t kChunk = 64, kForeign = UINT32_MAX;

  void take_chunk(uint32_t place) {
    static std::atomic<uint32_t> next{1};  // the first chunk has number 0, which means no access
    last_chunk_ = next.fetch_add(1);
    if (place == 0) first_chunk_ = last_chunk_;
    places_.resize(last_chunk_ - first_chunk_ + 1, kForeign);
    places_.back() = place;
  }

  std::vector<Segment> all_;
  std::vector<uint32_t> places_;  // chunk after the first one of this launch -> place in all_
  uint32_t first_chunk_ = 0, last_chunk_ = 0;
};

}  // namespace sim
