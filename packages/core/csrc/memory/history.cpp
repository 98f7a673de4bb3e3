#include "memory/history.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace dl::core {
namespace {

class History final : public MemoryWatcher {
 public:
  void start(HistoryOptions options, bool clear) {
    const std::lock_guard<std::mutex> guard(mutex_);
    options_ = std::move(options);
    stacks_ = options_.stacks;
    stacks_of_ = options_.stacks_of;
    if (clear || !is_recording_) forget();
    while (entries_.size() > options_.entries) entries_.pop_front();
    is_recording_ = true;
  }

  void stop() {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_recording_ = false;
  }

  void notice(const MemoryNews& news) noexcept override {
    try {
      const StacksOf stacks_of = stacks_of_;
      HistoryEntry entry{news, now(), gathers(news.event, stacks_of) ? stack() : nullptr};
      // Python frames are released under the GIL, and therefore not under our lock.
      std::vector<std::shared_ptr<torch::CapturedTraceback>> dropped;
      const std::lock_guard<std::mutex> guard(mutex_);
      if (news.event == MemoryEvent::allocated) live_[news.memory] = entry.stack;
      if (news.event == MemoryEvent::freed) {
        const auto found = live_.find(news.memory);
        if (found != live_.end()) {
          dropped.push_back(std::move(found->second));
          live_.erase(found);
        }
      }
      const auto& skipped = options_.skipped;
      if (std::find(skipped.begin(), skipped.end(), news.event) != skipped.end()) return;
      if (stacks_of == StacksOf::blocks) dropped.push_back(std::move(entry.stack));
      entries_.push_back(std::move(entry));
      while (entries_.size() > options_.entries) {
        dropped.push_back(std::move(entries_.front().stack));
        entries_.pop_front();
      }
    } catch (...) {
      // There is no host memory for the entry itself, so the history has a gap.
    }
  }

  std::vector<HistoryEntry> of(int device) {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::vector<HistoryEntry> found;
    for (const HistoryEntry& entry : entries_)
      if (entry.news.device == device) found.push_back(entry);
    return found;
  }

  std::shared_ptr<torch::CapturedTraceback> stack_of(const void* memory) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = live_.find(memory);
    return found == live_.end() ? nullptr : found->second;
  }

 private:
  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  static bool gathers(MemoryEvent event, StacksOf stacks_of) {
    switch (stacks_of) {
      case StacksOf::nothing:
        return false;
      case StacksOf::blocks:
        return event == MemoryEvent::allocated;
      case StacksOf::allocations:
        return event != MemoryEvent::freed && event != MemoryEvent::reusable &&
               event != MemoryEvent::segment_freed;
      default:
        return true;
    }
  }

  std::shared_ptr<torch::CapturedTraceback> stack() const {
    return torch::CapturedTraceback::gather(true, false, stacks_ == Stacks::all);
  }

  void forget() {
    entries_.clear();
    live_.clear();
  }

  std::mutex mutex_;
  HistoryOptions options_{0};
  bool is_recording_ = false;
  // Copies of the options that are read without taking the lock.
  std::atomic<Stacks> stacks_ = Stacks::all;
  std::atomic<StacksOf> stacks_of_ = StacksOf::nothing;
  std::deque<HistoryEntry> entries_;
  std::unordered_map<const void*, std::shared_ptr<torch::CapturedTraceback>> live_;
};

History& history() {
  static auto* made = new History;
  return *made;
}

}  // namespace

void record_history(HistoryOptions options, bool clear) {
  history().start(std::move(options), clear);
  add_memory_watcher(&history());
}

void stop_recording() {
  remove_memory_watcher(&history());
  history().stop();
}

std::vector<HistoryEntry> history_of(int device) { return history().of(device); }

std::shared_ptr<torch::CapturedTraceback> stack_of(const void* memory) {
  return history().stack_of(memory);
}

}  // namespace dl::core
