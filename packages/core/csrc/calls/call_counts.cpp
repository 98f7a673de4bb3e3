#include "calls/call_counts.h"

#include <memory>
#include <mutex>
#include <vector>

#include "calls/backward_thread.h"

namespace dl::core {

__thread ThreadCounts* thread_counts = nullptr;

namespace {

struct CountRegistry {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadCounts>> all;
  // Counters of threads that have exited; new threads reuse them.
  std::vector<ThreadCounts*> free;
  CallTotals before_reset{0, 0};
};

// Never destroyed: threads may outlive static objects.
CountRegistry& count_registry() {
  static auto* made = new CountRegistry;
  return *made;
}

// Returns the thread's counters when it exits.
struct CountOwner {
  ThreadCounts* counts = nullptr;
  ~CountOwner() {
    if (counts == nullptr) return;
    thread_counts = nullptr;
    const std::lock_guard<std::mutex> guard(count_registry().mutex);
    count_registry().free.push_back(counts);
  }
};
thread_local CountOwner count_owner;

CallTotals sum_of_counts(const CountRegistry& counted) {
  CallTotals total{0, 0};
  for (const auto& counts : counted.all) {
    total.native += counts->native.load(std::memory_order_relaxed);
    total.composed += counts->composed.load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace

ThreadCounts& make_thread_counts() {
  run_backward_in_this_thread();
  CountRegistry& counted = count_registry();
  const std::lock_guard<std::mutex> guard(counted.mutex);
  if (counted.free.empty()) {
    counted.all.push_back(std::make_unique<ThreadCounts>());
    counted.free.push_back(counted.all.back().get());
  }
  thread_counts = counted.free.back();
  counted.free.pop_back();
  count_owner.counts = thread_counts;
  return *thread_counts;
}

CallTotals call_totals() {
  CountRegistry& counted = count_registry();
  const std::lock_guard<std::mutex> guard(counted.mutex);
  const CallTotals total = sum_of_counts(counted);
  return {total.native - counted.before_reset.native,
          total.composed - counted.before_reset.composed};
}

CallTotals call_totals_since_start() {
  const std::lock_guard<std::mutex> guard(count_registry().mutex);
  return sum_of_counts(count_registry());
}

void reset_call_totals() {
  CountRegistry& counted = count_registry();
  const std::lock_guard<std::mutex> guard(counted.mutex);
  // Other threads keep counting, so the current values are subtracted later instead of being reset.
  counted.before_reset = sum_of_counts(counted);
}

}  // namespace dl::core
