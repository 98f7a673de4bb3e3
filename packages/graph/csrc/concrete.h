// An entry of a graph for one tuple of sizes.
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
  int64_t begin = 0;  // the bytes of the storage from the first element to the last
  int64_t end = 0;

  // Bytes from an element to the next one along a dimension; 0 where there is none, and the stride
  // may be any number.
  int64_t step_bytes(size_t dim) const {
    return numel > 0 && shape[dim] > 1 ? strides[dim] * item : 0;
  }
};

// Two views with the same elements in the same order.
bool same_view(const ConcreteView& a, const ConcreteView& b);

struct Concrete {
  Sizes sizes;
  std::vector<int64_t> bytes;  // by storage
  std::vector<ConcreteView> views;
};

// Throws Failure: a symbol outside of its range, a guard that does not hold, a negative size, a
// view that leaves its storage.
Concrete concrete(const Entry& entry, const Sizes& sizes);

// The parameters of a call that are tensors, one after the other.
template <typename Body>
void each_tensor(const Call& call, Body&& body) {
  for (size_t place = 0; place < call.arguments.size(); ++place) {
    const Parameter& parameter = call.called->parameter(place);
    if (parameter.type != Type::kTensor && parameter.type != Type::kTensors) continue;
    for (const int64_t value : call.arguments[place].places)
      if (value >= 0) body(place, parameter, static_cast<size_t>(value));
  }
}

// Description of a call in messages.
std::string call_text(const Entry& entry, size_t number);

}  // namespace dl::graph
