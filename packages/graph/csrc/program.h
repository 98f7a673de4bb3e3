// Entry bound to a device for one tuple of sizes, with its tensor handles and vendor functions.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "blocks.h"

namespace dl::graph {

class Program {
 public:
  // The generators are those of the graph. Throws Failure if the vendor lacks an operator or memory
  // is exhausted.
  Program(const Device& device, const Entry& entry, Concrete sized, Plan plan, Tiling tiling,
          std::deque<dl_generator_prefix_t>& generators);

  // Sets the memory of a storage for all tensors that view it.
  void place(size_t storage, void* memory);
  // Moves the temporaries to a new block of `arena_bytes` bytes.
  void place_temporaries(char* arena);
  char* arena() const { return arena_; }

  // Throws Failure, which names the call, if an operator fails.
  void run(Context& context);
  // Fills the memory that the calls write with kPoison.
  void poison();

  int64_t arena_bytes() const { return plan_.bytes; }
  const Concrete& sized() const { return sized_; }
  dl_contract_tensor_t tensor(size_t value);
  bool is_tiled() const { return !tiling_.groups.empty(); }
  bool writes_input(size_t storage) const { return written_[storage]; }

  uint64_t used = 0;  // time of the last use, as a counter of the session

 private:
  void bind(std::deque<dl_generator_prefix_t>& generators);

  const Device& device_;
  const Entry& entry_;
  Concrete sized_;
  Plan plan_;
  Tiling tiling_;
  std::deque<Handle> handles_;                 // by value
  std::vector<std::vector<Handle*>> viewing_;  // by storage
  std::vector<bool> written_;                  // by storage
  std::vector<DeviceMemory> outputs_;          // by storage
  char* arena_ = nullptr;
  Binder binder_;
  std::vector<Bound> calls_;                     // calls in groups have no function
  std::vector<std::unique_ptr<Blocks>> groups_;  // by index of the group's first call
};

}  // namespace dl::graph
