// Counters of operators that ran in vendor code or were composed. Per thread, without locks or
// atomic exchanges, so that they can always be on.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace dl::core {

// Written by one thread, read by all threads.
struct ThreadCounts {
  std::atomic<uint64_t> native{0};
  std::atomic<uint64_t> composed{0};
};

// Counters of this thread, allocated at its first operator, which also chooses the thread that
// runs backward(). There is no constructor, so that access is cheap.
extern __thread ThreadCounts* thread_counts;
ThreadCounts& make_thread_counts();

inline void count_call(std::atomic<uint64_t> ThreadCounts::* kind) {
  ThreadCounts* counts = thread_counts;
  if (C10_UNLIKELY(counts == nullptr)) counts = &make_thread_counts();
  std::atomic<uint64_t>& count = counts->*kind;
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

struct CallTotals {
  uint64_t native;    // calls of vendor operators, including those in composed operators
  uint64_t composed;  // operators that dl-core implemented with other operators
};
// Totals of all threads, including exited ones, since the start or the last reset.
CallTotals call_totals();
CallTotals call_totals_since_start();
void reset_call_totals();

// Counts the calls of a composed operator.
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
