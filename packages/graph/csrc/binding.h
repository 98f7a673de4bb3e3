// Calls with their arguments in the form that the vendor's functions expect.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "concrete.h"
#include "context.h"
#include "failure.h"
#include "invoke.h"

namespace dl::graph {

struct Bound {
  Invoke invoke = nullptr;
  dl_function_t function = nullptr;
  void** values = nullptr;
};

// Returns the failure to throw for a failed call. Its message names the call.
Failure call_failure(const Device& device, const Entry& entry, size_t number, diopiError_t code,
                     Context& context);

// Converter of calls, and owner of all objects to which their arguments point.
class Binder {
 public:
  // Returns the handle of a value; called once per tensor of a call, in the order of each_tensor.
  using HandleOf = std::function<Handle&(size_t value)>;

  // `sizes` and the graph's generators must outlive the binder.
  Binder(const Device& device, const Sizes& sizes, std::deque<dl_generator_prefix_t>& generators)
      : device_(device), sizes_(sizes), generators_(generators) {}

  // Throws Failure if the vendor does not implement the operator.
  Bound bind(const Call& call, const HandleOf& handle_of);

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

  Slot slot(const Call& call, size_t place, const HandleOf& handle_of);
  diopiSize_t list(const Argument& argument);
  void* kept(Slot slot) {
    slots_.push_back(slot);
    return &slots_.back();
  }

  const Device& device_;
  const Sizes& sizes_;
  std::deque<dl_generator_prefix_t>& generators_;
  // Targets of the pointers in calls; a deque does not move its elements.
  std::deque<Slot> slots_;
  std::deque<std::vector<void*>> arrays_;
  std::deque<std::vector<int64_t>> lists_;
};

}  // namespace dl::graph
