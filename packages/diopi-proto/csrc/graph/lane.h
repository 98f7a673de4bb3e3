// Blocks of a group, run by one thread at a time.
#pragma once

#include <deque>
#include <vector>

#include "graph/binding.h"
#include "graph/context.h"
#include "graph/plan.h"

namespace dl::graph {

// Handles that move from block to block, and the memory of the group's own temporaries.
class Lane {
 public:
  Lane(const Device& device, const Entry& entry, const Concrete& sized, const Group& group,
       const Plan& plan, std::deque<dl_generator_prefix_t>& generators);

  // `whole` are the handles of the program, on the memory of this run. Throws Failure: an operator
  // failed; it names the call.
  void run(const std::deque<Handle>& whole, int64_t begin, int64_t end);
  // Fills its memory with bytes of no meaning.
  void poison(int value);

 private:
  struct Moving {
    Handle* handle;
    size_t value;
    bool is_local;
    int32_t cut;                 // the dimension that has `rows`, or -1
    std::vector<int64_t> steps;  // in bytes, by dimension of the group's space
  };

  void make_handles(const Plan& plan);
  // Puts all handles on a block.
  void move_to(const std::deque<Handle>& whole, int64_t block);
  void set_rows(int64_t rows);

  const Device& device_;
  const Entry& entry_;
  const Concrete& sized_;
  const Group& group_;
  Context context_;
  Binder binder_;
  DeviceMemory memory_;
  std::deque<Handle> handles_;  // by piece
  std::vector<Moving> moving_;  // by piece
  std::vector<Bound> calls_;
  int64_t rows_;
  std::vector<int64_t> index_;  // of the block in the group's space
};

}  // namespace dl::graph
