#include "blocks.h"

namespace dl::graph {

Blocks::Blocks(const Device& device, const Entry& entry, const Concrete& sized, Group group,
               std::deque<dl_generator_prefix_t>& generators)
    : device_(device),
      entry_(entry),
      sized_(sized),
      group_(std::move(group)),
      plan_(make_plan(Lifetimes(entry, sized, group_))),
      generators_(generators) {
  // Created now, so that a lack of memory makes the opening of the session fail, not a run.
  idle_.push_back(make_lane());
}

std::unique_ptr<Lane> Blocks::make_lane() const {
  return std::make_unique<Lane>(device_, entry_, sized_, group_, plan_, generators_);
}

std::unique_ptr<Lane> Blocks::take() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Lane> found = std::move(idle_.back());
      idle_.pop_back();
      return found;
    }
  }
  return make_lane();
}

void Blocks::run_some(int64_t begin, int64_t end) noexcept {
  try {
    std::unique_ptr<Lane> lane = take();
    lane->run(*whole_, begin, end);
    const std::lock_guard<std::mutex> guard(mutex_);
    idle_.push_back(std::move(lane));
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const Failure*>(&error);
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!failure_) failure_ = known != nullptr ? *known : Failure(error.what(), DL_ERROR);
  } catch (...) {
    // An operator is vendor code and may throw anything.
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!failure_)
      failure_ = Failure("an operator threw an exception that is not a std::exception", DL_ERROR);
  }
}

void Blocks::run(const std::deque<Handle>& whole) {
  whole_ = &whole;
  failure_.reset();
  const dl_host_t& host = *device_.target().host;
  const int64_t count = group_.blocks();
  const dl_range_fn some = [](void* self, int64_t begin, int64_t end) {
    static_cast<Blocks*>(self)->run_some(begin, end);
  };
  const bool threads = DL_HAS_FIELD(&host, dl_host_t, num_threads) && host.num_threads != nullptr &&
                       host.parallel_for != nullptr && host.num_threads(&host) > 1;
  // If parallel_for fails, it has not run any block.
  if (!threads || host.parallel_for(&host, 0, count, 1, some, this) != DL_OK) run_some(0, count);
  if (failure_) throw Failure(*failure_);
}

void Blocks::poison(int value) {
  for (const std::unique_ptr<Lane>& lane : idle_) lane->poison(value);
}

}  // namespace dl::graph
