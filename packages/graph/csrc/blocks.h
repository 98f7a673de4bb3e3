// Execution of a group: its blocks, distributed over the host's threads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "lane.h"

namespace dl::graph {

class Blocks {
 public:
  // All arguments except the group must outlive this object.
  Blocks(const Device& device, const Entry& entry, const Concrete& sized, Group group,
         std::deque<dl_generator_prefix_t>& generators);

  // Runs all blocks; see Lane::run.
  void run(const std::deque<Handle>& whole);
  void poison(int value);
  const Group& group() const { return group_; }

 private:
  std::unique_ptr<Lane> make_lane() const;
  std::unique_ptr<Lane> take();
  void run_some(int64_t begin, int64_t end) noexcept;

  const Device& device_;
  const Entry& entry_;
  const Concrete& sized_;
  const Group group_;
  const Plan plan_;
  std::deque<dl_generator_prefix_t>& generators_;
  const std::deque<Handle>* whole_ = nullptr;  // of the current run
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::optional<Failure> failure_;  // the first one in the current run
};

}  // namespace dl::graph
