// Entry of a graph with all expressions evaluated for one tuple of sizes.
#pragma once

#include <vector>

#include "model.h"

namespace dl::graph {

struct ConcreteView {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  int64_t offset = 0;            // in elements
  int64_t item = 0;              // bytes of an element
  int64_t numel = 0;
  int64_t begin = 0;  // range of bytes in the storage, from the first element to the last one
  int64_t end = 0;

  // Stride of a dimension in bytes; 0 for a dimension with at most one element, whose stride in the
  // graph is arbitrary.
  int64_t step_bytes(size_t dim) const {
    return numel > 0 && shape[dim] > 1 ? strides[dim] * item : 0;
  }
};

// Returns true if two views have the same elements in the same order.
bool same_view(const ConcreteView& a, const ConcreteView& b);

struct Concrete {
  Sizes sizes;
  std::vector<int64_t> bytes;  // by storage
  std::vector<ConcreteView> views;
};

// Throws Failure if a symbol is outside its range, a guard does not hold, a size is negative, or a
// view extends beyond its storage.
Concrete concrete(const Entry& entry, const Sizes& sizes);

// Calls `body` for each tensor parameter of a call, in order.
template <typename Body>
void each_tensor(const Call& call, Body&& body) {
  for (size_t place = 0; place < call.arguments.size(); ++place) {
    const Parameter& parameter = call.called->parameter(place);
    if (parameter.type != Type::kTensor && parameter.type != Type::kTensors) continue;
    for (const int64_t value : call.arguments[place].places)
      if (value >= 0) body(place, parameter, static_cast<size_t>(value));
  }
}

// Returns the description of a call for messages.
std::string call_text(const Entry& entry, size_t number);

}  // namespace dl::graph
