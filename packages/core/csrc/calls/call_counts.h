// How many operators ran in the vendor's code, and how many were composed: counted in each thread,
// without locks and atomic exchanges, so that it may be on at all times.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace dl::core {

// Written by one thread, read by all.
struct ThreadCounts {
  std::atomic<uint64_t> native{0};
  std::atomic<uint64_t> composed{0};
};

// This thread's, made at its first operator, which also settles where its backward() runs. Without
// a constructor, so that reading it is cheap.
extern __thread ThreadCounts* thread_counts;
ThreadCounts& make_thread_counts();

inline void count_call(std::atomic<uint64_t> ThreadCounts::* kind) {
  ThreadCounts* counts = thread_counts;
  if (C10_UNLIKELY(counts == nullptr)) counts = &make_thread_counts();
  std::atomic<uint64_t>& count = counts->*kind;
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

struct CallTotals {
  uint64_t native;    // calls of the vendor's operators, those within composed ones too
  uint64_t composed;  // operators that dl-core built from others
};
// Of all threads, those that have ended too, since the start or the last reset.
CallTotals call_totals();
void reset_call_totals();

// A composed operator that is counted.
template <auto kFunction>
struct Counted;
template <typename Return, typename... Args, Return (*kFunction)(Args...)>
struct Counted<kFunction> {
  static Return call(Args... args) {
    count_call(&ThreadCounts::composed);
    return kFunction(std::forward<Args>(args)...);
  }
};

}  // namespace dl::core
