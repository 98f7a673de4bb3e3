#include "memory/history.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace dl::core {
namespace {

class History final : public MemoryWatcher {
 public:
  void start(const HistoryOptions& options) {
    const std::lock_guard<std::mutex> guard(mutex_);
    options_ = options;
    forget();
  }

  void notice(const MemoryNews& news) noexcept override {
    try {
      HistoryEntry entry{news, now(), stack()};
      // Frames of Python are released by whoever holds the interpreter's lock: not under ours.
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
      entries_.push_back(std::move(entry));
      if (entries_.size() > options_.entries) {
        dropped.push_back(std::move(entries_.front().stack));
        entries_.pop_front();
      }
    } catch (...) {
      // Memory for the record itself: it has a gap then.
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

  std::shared_ptr<torch::CapturedTraceback> stack() const {
    if (options_.stacks == Stacks::none) return nullptr;
    return torch::CapturedTraceback::gather(true, false, options_.stacks == Stacks::all);
  }

  void forget() {
    entries_.clear();
    live_.clear();
  }

  std::mutex mutex_;
  HistoryOptions options_{0, Stacks::none};
  std::deque<HistoryEntry> entries_;
  std::unordered_map<const void*, std::shared_ptr<torch::CapturedTraceback>> live_;
};

History& history() {
  static auto* made = new History;
  return *made;
}

}  // namespace

void record_history(const HistoryOptions& options) {
  history().start(options);
  add_memory_watcher(&history());
}

void stop_recording() { remove_memory_watcher(&history()); }

std::vector<HistoryEntry> history_of(int device) { return history().of(device); }

std::shared_ptr<torch::CapturedTraceback> stack_of(const void* memory) {
  return history().stack_of(memory);
}

}  // namespace dl::core
