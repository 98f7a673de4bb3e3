// Execution of a group's blocks by one thread at a time.
#pragma once

#include <deque>
#include <vector>

#include "binding.h"
#include "context.h"
#include "plan.h"

namespace dl::graph {

// Handles that move from block to block, and the memory of the group's local temporaries.
class Lane {
 public:
  Lane(const Device& device, const Entry& entry, const Concrete& sized, const Group& group,
       const Plan& plan, std::deque<dl_generator_prefix_t>& generators);

  // `whole` are the program's handles, with the memory of this run. Throws Failure, which names the
  // call, if an operator fails.
  void run(const std::deque<Handle>& whole, int64_t begin, int64_t end);
  // Fills its memory with the byte `value`.
  void poison(int value);

 private:
  struct Moving {
    Handle* handle;
    size_t value;
    bool is_local;
    int32_t cut;                 // the dimension that `rows` cuts, or -1
    std::vector<int64_t> steps;  // in bytes, by dimension of the group's space
  };

  // Contiguous rows of a tensor in the program's memory, to be prefetched.
  struct Rows {
    const Moving* moving;
    int64_t lines;     // number of cache lines
    const char* next;  // the rows of the next block
  };

  void make_handles(const Plan& plan);
  void find_rows();
  void set_index(int64_t block);
  char* place(const Moving& moving, const std::deque<Handle>& whole) const;
  // Moves all handles to a block.
  void move_to(const std::deque<Handle>& whole, int64_t block);
  // Prefetches a part of the next block's rows into the second-level cache before a call runs: the
  // hardware prefetcher has to restart with each row.
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
