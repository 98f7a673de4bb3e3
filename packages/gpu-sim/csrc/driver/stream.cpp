#include "stream.h"

CUstream_st::CUstream_st(CUcontext of, unsigned kind, int order)
    : context(of), flags(kind), priority(order) {}

CUstream_st::~CUstream_st() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void CUstream_st::add(sim::Work work) { add(Entry{std::move(work), nullptr}); }

void CUstream_st::add(Entry entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Started on first use: most streams of a program never get any work.
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  queue_.push_back(std::move(entry));
  changed_.notify_all();
}

void CUstream_st::add(std::shared_ptr<sim::Mark> mark) { add(Entry{nullptr, std::move(mark)}); }

std::shared_ptr<sim::Mark> CUstream_st::mark() {
  auto made = std::make_shared<sim::Mark>();
  add(made);
  return made;
}

bool CUstream_st::idle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queue_.empty() && !busy_;
}

void CUstream_st::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    if (entry.mark != nullptr) {
      entry.mark->set();
      continue;
    }
    busy_ = true;
    lock.unlock();
    entry.work();
    entry.work = nullptr;
    lock.lock();
    busy_ = false;
  }
}
