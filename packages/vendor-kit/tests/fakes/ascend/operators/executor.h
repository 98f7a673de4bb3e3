// Phase 1 and phase 2 of every function.
#pragma once

#include <memory>
#include <variant>

#include "functions.gen.h"
#include "meaning.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

namespace fake_aclnn {

using Function = fake_ascend::Function;
using Check = fake_ascend::Argument;

// A tensor argument as phase 1 saw it.
struct Bound {
  const aclTensor* tensor = nullptr;  // NULL for an absent argument
  Sizes sizes, strides, storage;
  int64_t offset = 0;
  int dtype = 0, format = 0;
  void* base = nullptr;
};
struct BoundList {
  const aclTensorList* list = nullptr;
  std::vector<Bound> tensors;
};
using Argument = std::variant<Bound, BoundList, Scalar, Ints, Bools, int64_t, double, std::string>;

// The arguments of one run, with memory that the host can access.
class Arguments {
 public:
  std::vector<std::variant<Tensor, Tensors, Scalar, Ints, Bools, int64_t, double, std::string>>
      values;

  template <typename T>
  T get(size_t index) const {
    const auto& value = values[index];
    if constexpr (std::is_same_v<T, bool>) {
      return std::get<int64_t>(value) != 0;
    } else if constexpr (std::is_same_v<T, Dtype>) {
      return dtype_argument(std::get<int64_t>(value));
    } else {
      return std::get<T>(value);
    }
  }

 private:
  static Dtype dtype_argument(int64_t number);
};

struct Meaning {
  const char* name;
  void (*run)(const Arguments& arguments);
};

extern const Meaning kMeanings[];
extern const size_t kMeaningCount;
// Returns the meaning of a function; nullptr if none is written.
const Meaning* find_meaning(const char* name);

// Returns true if the function writes to the argument: a pointer to a tensor that is not const, or
// the first argument of an in-place function, whatever the table says.
bool is_written(const Function& function, size_t index);

// Converts and checks the arguments of phase 1. Returns kOk, or the code of a call that is refused
// or is misuse.
int bind_arguments(const Function& function, const fake_ascend::Value* values, int32_t device,
                   std::vector<Argument>* bound);
// Checks the address of a tensor: alignment, and the extent of its storage.
int check_address(const std::string& where, const Bound& tensor, int32_t device);
// Checks that no output shares part of its memory with another argument.
int check_overlap(const Function& function, const std::vector<Argument>& bound);

// Elements of the storage that the tensor's view reaches, from the base.
int64_t reach_of(const Bound& tensor);
inline int64_t elements(const Bound& tensor) { return product(tensor.sizes); }

// Calls the body with the check, and whether it is written, of each tensor that is not absent.
template <typename F>
void for_each_tensor(const Function& function, std::vector<Argument>& arguments, F body) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (auto* tensor = std::get_if<Bound>(&arguments[i])) {
      if (tensor->tensor != nullptr) body(function.arguments[i], is_written(function, i), *tensor);
    } else if (auto* list = std::get_if<BoundList>(&arguments[i])) {
      for (Bound& element : list->tensors) {
        if (element.tensor != nullptr)
          body(function.arguments[i], is_written(function, i), element);
      }
    }
  }
}

// Runs the meaning on memory of its own that is zero, to learn whether the library accepts the
// arguments. Returns kOk or kInvalidArgument.
int rehearse(const Function& function, const std::vector<Argument>& bound);
// Runs the meaning on the device's memory. Returns 0, or an error code of the runtime.
int perform(const Function& function, const std::vector<Argument>& bound, int32_t device);

}  // namespace fake_aclnn

#pragma GCC visibility pop
