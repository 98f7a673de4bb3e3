// An entry that is bound to a device for one tuple of sizes: handles made, functions found.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "blocks.h"

namespace dl::graph {

class Program {
 public:
  // The generators are those of the graph. Throws Failure: an operator is not bound, or there is no
  // memory.
  Program(const Device& device, const Entry& entry, Concrete sized, Plan plan, Tiling tiling,
          std::deque<dl_generator_prefix_t>& generators);

  // Puts the tensors that view a storage on memory.
  void place(size_t storage, void* memory);
  // As many bytes as `arena_bytes` at a new address.
  void place_temporaries(char* arena);
  char* arena() const { return arena_; }

  // Throws Failure: an operator failed; it names the call.
  void run(Context& context);
  // Fills what the calls are to write with bytes of no meaning.
  void poison();

  int64_t arena_bytes() const { return plan_.bytes; }
  const Concrete& sized() const { return sized_; }
  dl_contract_tensor_t tensor(size_t value);
  bool is_tiled() const { return !tiling_.groups.empty(); }
  bool writes_input(size_t storage) const { return written_[storage]; }

  uint64_t used = 0;  // when, as the session counts

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
  std::vector<Bound> calls_;                     // without a function: those of groups
  std::vector<std::unique_ptr<Blocks>> groups_;  // by call: at the first one of each group
};

}  // namespace dl::graph
