// Calls of the fake library: their arguments, as checked, and the table of meanings.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "functions.gen.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

namespace fake_cnnl {

using fake_cambricon::Function;
using Check = fake_cambricon::Argument;
using ArgumentKind = fake_cambricon::Kind;

// A pointer to a tensor's elements, with the descriptor that applies to it.
struct Bound {
  bool present = false;
  int layout = 0, dtype = 0;
  Sizes sizes, strides;
  void* base = nullptr;

  int64_t elements() const { return product(sizes); }
  // Elements from the first to the last one.
  int64_t reach() const;
  bool is_dense() const;
  size_t bytes() const { return element_bytes(dtype) * static_cast<size_t>(reach()); }
};
struct BoundList {
  std::vector<Bound> tensors;
};
using BoundArgument =
    std::variant<std::monostate, Bound, BoundList, Number, Described, int64_t, double>;

// The arguments of one run, with memory that the host can access.
class Arguments {
 public:
  std::vector<std::variant<std::monostate, Tensor, Tensors, Number, Described, int64_t, double>>
      values;

  template <typename T>
  T get(size_t index) const {
    const auto& value = values[index];
    if constexpr (std::is_same_v<T, bool>)
      return std::get<int64_t>(value) != 0;
    else
      return std::get<T>(value);
  }
};

struct Meaning {
  const char* name;
  void (*run)(const Arguments& arguments);
};
extern const Meaning kMeanings[];
extern const size_t kMeaningCount;
// Returns the meaning of a function; null if none is written.
const Meaning* find_meaning(const std::string& name);

// Calls the body with the check of each tensor that is not absent.
template <typename F>
void for_each_tensor(const Function& function, const std::vector<BoundArgument>& arguments,
                     F body) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto* tensor = std::get_if<Bound>(&arguments[i])) {
      if (tensor->present) body(function.arguments[i], *tensor);
    } else if (const auto* list = std::get_if<BoundList>(&arguments[i])) {
      for (const Bound& each : list->tensors)
        if (each.present) body(function.arguments[i], each);
    }
  }
}

// Converts and checks the arguments of a call. Returns a status.
int bind_arguments(const Function& function, const fake_cambricon::Value* values, int device,
                   std::vector<BoundArgument>* bound);

// Runs the meaning on memory of its own that is zero, to learn whether the library accepts the
// arguments. Returns a status.
int rehearse(const Function& function, const std::vector<BoundArgument>& bound);
// Runs the meaning on the device's memory. Returns 0, or an error of the runtime.
int perform(const Function& function, const std::vector<BoundArgument>& bound, int device);

}  // namespace fake_cnnl

#pragma GCC visibility pop
