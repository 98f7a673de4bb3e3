// Meanings: what the functions of CNNL compute, by the names of their arguments.
//
//   MEANING(Abs) { RUN(diopiAbs, y, x); }
//
// Meanings never see the descriptions of the vendor's operators: an argument that is swapped there
// gives a wrong result here.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../../computing/tensors.h"
#include "enumerators.h"

#pragma GCC visibility push(hidden)

namespace fake_cnnl {

using namespace fake_computing;

// A number in host memory, which has the type that the function documents; absent for NULL.
class Number {
 public:
  Number() = default;
  explicit Number(const void* memory) : present_(memory != nullptr) {
    // Callers give numbers of up to eight bytes in a block of at least as many.
    if (present_) std::memcpy(bytes_, memory, sizeof bytes_);
  }
  explicit operator bool() const { return present_; }
  // The value as a function reads it that computes in int32 for integers, else in float32.
  Scalar factor(Dtype dtype) const {
    if (is_floating(dtype)) return Scalar(read<float>());
    return Scalar::of(read<int32_t>());
  }
  // The value as a function reads it that takes an element of a tensor.
  Scalar element(Dtype dtype) const {
    const Tensor memory(const_cast<unsigned char*>(bytes_), {1}, {1}, dtype);
    if (is_floating(dtype)) {
      const Tensor wide = memory.to(diopi_dtype_float64);
      return Scalar(*static_cast<const double*>(wide.data()));
    }
    const Tensor wide = memory.to(diopi_dtype_int64);
    return Scalar::of(*static_cast<const int64_t*>(wide.data()));
  }

 private:
  template <class T>
  T read() const {
    T value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }

  bool present_ = false;
  alignas(8) unsigned char bytes_[8] = {};
};

// An operator's descriptor: the numbers with which it was set, by the names of the parameters.
struct Described {
  bool present = false;
  std::map<std::string, double> numbers;
  std::map<std::string, std::vector<int64_t>> lists;

  int64_t operator[](const char* name) const {
    const auto found = numbers.find(name);
    if (found == numbers.end()) refuse_because(std::string("a descriptor was not set: ") + name);
    return static_cast<int64_t>(found->second);
  }
  Ints list(const char* name) const {
    const auto found = lists.find(name);
    if (found == lists.end()) refuse_because(std::string("a descriptor was not set: ") + name);
    return Ints{true, found->second};
  }
};

}  // namespace fake_cnnl

#pragma GCC visibility pop

#define MEANING(name) void ::fake_cnnl::functions::name::meaning() const
