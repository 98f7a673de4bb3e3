// An entry that is bound to a device for one tuple of sizes: handles made, functions found.
#pragma once

#include <deque>
#include <vector>

#include "graph/context.h"
#include "graph/invoke.h"
#include "graph/plan.h"

namespace dl::graph {

class Program {
 public:
  // The generators are those of the graph. Throws Failure: an operator is not bound, or there is no
  // memory.
  Program(const Device& device, const Entry& entry, Concrete sized, Plan plan,
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
  bool writes_input(size_t storage) const { return written_[storage]; }

  uint64_t used = 0;  // when, as the session counts

 private:
  union Slot {
    void* pointer;
    int64_t int64;
    int32_t int32;
    float float32;
    double float64;
    bool boolean;
    diopiSize_t size;
    diopiScalar_t scalar;
    diopiMemoryFormat_t memory_format;
    diopiReduction_t reduction;
    diopiRoundMode_t round_mode;
  };
  struct Bound {
    Invoke invoke;
    dl_function_t function;
    void** values;
  };

  void bind(const Call& call, std::deque<dl_generator_prefix_t>& generators);
  Slot slot(const Call& call, size_t place, std::deque<dl_generator_prefix_t>& generators);
  diopiSize_t sizes(const Argument& argument);
  void* kept(Slot slot) {
    slots_.push_back(slot);
    return &slots_.back();
  }
  [[noreturn]] void fail(size_t number, diopiError_t code, Context& context) const;

  const Device& device_;
  const Entry& entry_;
  Concrete sized_;
  Plan plan_;
  std::deque<Handle> handles_;                 // by value
  std::vector<std::vector<Handle*>> viewing_;  // by storage
  std::vector<bool> written_;                  // by storage
  std::vector<DeviceMemory> outputs_;          // by storage
  char* arena_ = nullptr;
  std::vector<Bound> calls_;
  // What the calls point to; a deque leaves its elements where they are.
  std::deque<Slot> slots_;
  std::deque<std::vector<void*>> arrays_;
  std::deque<std::vector<int64_t>> lists_;
};

}  // namespace dl::graph
