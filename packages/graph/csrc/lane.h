// Blocks of a group, run by one thread at a time.
#pragma once

#include <deque>
#include <vector>

#include "binding.h"
#include "context.h"
#include "plan.h"

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

  // Dense rows in the memory of the program.
  struct Rows {
    const Moving* moving;
    int64_t lines;     // of the cache
    const char* next;  // those of the next block
  };

  void make_handles(const Plan& plan);
  void find_rows();
  void set_index(int64_t block);
  char* place(const Moving& moving, const std::deque<Handle>& whole) const;
  // Puts all handles on a block.
  void move_to(const std::deque<Handle>& whole, int64_t block);
  // Has a share of the next block's rows brought into the second-level cache while a call computes:
  // the processor's own prefetching starts again with each row.
  void fetch(size_t call) const;
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
  std::vector<Rows> ahead_;
  std::vector<Bound> calls_;
  int64_t rows_;
  std::vector<int64_t> index_;  // of the block in the group's space
};

}  // namespace dl::graph
