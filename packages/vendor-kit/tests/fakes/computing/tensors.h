// Tensors of the fake operator libraries, and the contract library for the CPU that computes on
// them.
//
// RUN calls an operator of that library: RUN(diopiAdd, out, input, other, alpha).
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "diopi/functions.h"
#include "diopi/functions_dl.h"
#include "diopi/functions_ext.h"
#include "diopi/functions_mmcv.h"
#include "dl/handles.h"

#pragma GCC visibility push(hidden)

namespace fake_computing {

using Dtype = diopiDtype_t;
using Sizes = std::vector<int64_t>;

// The library refuses these arguments.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A strided view of memory that the host can access, or absent (a NULL argument).
class Tensor {
 public:
  Tensor() = default;
  // Views memory. `keep` owns it; nullptr for memory of the device.
  Tensor(void* data, Sizes sizes, Sizes strides, Dtype dtype, std::shared_ptr<void> keep = nullptr);

  explicit operator bool() const { return state_ != nullptr; }
  operator diopiTensorHandle_t() const;
  const Sizes& sizes() const { return state_->sizes; }
  const Sizes& strides() const { return state_->strides; }
  int64_t rank() const { return static_cast<int64_t>(sizes().size()); }
  int64_t size(int64_t dim) const { return sizes()[static_cast<size_t>(wrap(dim))]; }
  int64_t numel() const { return state_->prefix.numel; }
  Dtype dtype() const { return static_cast<Dtype>(state_->prefix.dtype); }
  void* data() const { return state_->prefix.data; }

  // Views of the same memory. Offsets and strides count elements.
  Tensor view(Sizes sizes, Sizes strides, int64_t offset = 0) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor squeeze(int64_t dim) const;
  Tensor permute(const Sizes& dims) const;
  Tensor expand(const Sizes& sizes) const;
  // Returns the first element with another shape, of ones.
  Tensor narrow_first(const Sizes& ones) const { return view(ones, ones); }
  // Returns the elements in row-major order with another shape; a copy unless they are contiguous.
  Tensor reshape(Sizes sizes) const;
  Tensor contiguous() const;
  Tensor to(Dtype dtype) const;  // itself if it has the dtype
  bool is_contiguous() const;

  // Reports the shape of a result that the call has found.
  void set_view_shape(const Sizes& sizes) const;
  void on_view_shape(std::function<void(const Sizes&)> report) {
    state_->report = std::move(report);
  }

  int64_t wrap(int64_t dim) const { return dim < 0 ? dim + rank() : dim; }

 private:
  struct State {
    dl_tensor_prefix_t prefix;
    Sizes sizes, strides;
    std::shared_ptr<void> keep;
    std::function<void(const Sizes&)> report;
  };
  std::shared_ptr<State> state_;
};

// Returns a tensor that an operator of the engine made; it is valid during the call.
Tensor view_of(diopiConstTensorHandle_t handle);
Tensor empty(const Sizes& sizes, Dtype dtype);
// Returns a tensor with the shape of another tensor.
inline Tensor empty_like(const Tensor& other) { return empty(other.sizes(), other.dtype()); }
Tensor filled(const Sizes& sizes, Dtype dtype, double value);
// Copies with conversion of the dtype; `from` broadcasts.
void assign(const Tensor& to, const Tensor& from);
int64_t product(const Sizes& sizes);
Sizes broadcast(const Sizes& a, const Sizes& b);
Dtype promote(Dtype a, Dtype b);
bool is_floating(Dtype dtype);  // real or complex
size_t bytes_of(Dtype dtype);

// A host scalar; absent for a NULL argument.
class Scalar {
 public:
  Scalar() = default;
  Scalar(double value) : present_(true) {
    value_.stype = diopi_dtype_float64;
    value_.fval = value;
  }
  static Scalar of(int64_t value) {
    Scalar made;
    made.present_ = true;
    made.value_.stype = diopi_dtype_int64;
    made.value_.ival = value;
    return made;
  }
  explicit operator bool() const { return present_; }
  operator const diopiScalar_t*() const { return present_ ? &value_ : nullptr; }
  bool is_real() const { return is_floating(value_.stype); }
  double real() const { return is_real() ? value_.fval : static_cast<double>(value_.ival); }
  int64_t integer() const { return is_real() ? static_cast<int64_t>(value_.fval) : value_.ival; }
  Scalar negated() const { return is_real() ? Scalar(-value_.fval) : of(-value_.ival); }

 private:
  bool present_ = false;
  diopiScalar_t value_{};
};

// An array of integers; absent for a NULL argument.
struct Ints {
  bool present = false;
  Sizes values;
  operator diopiSize_t() const {
    return present ? diopiSize_t{values.data(), size()} : diopiSize_t{nullptr, 0};
  }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  int64_t operator[](size_t index) const { return values.at(index); }
};
struct Bools {
  std::vector<bool> values;
  bool operator[](size_t index) const { return values.at(index); }
};

struct Tensors {
  bool present = false;
  std::vector<Tensor> values;
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  const Tensor& operator[](size_t index) const { return values.at(index); }
};

// The handles of a list, for a call.
class Handles {
 public:
  explicit Handles(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) handles_.push_back(tensor);
  }
  operator diopiTensorHandle_t*() { return handles_.data(); }
  operator diopiConstTensorHandle_t*() {
    return const_cast<diopiConstTensorHandle_t*>(handles_.data());
  }

 private:
  std::vector<diopiTensorHandle_t> handles_;
};

// A generator of the contract. For the same seed, its numbers differ from the contract's numbers,
// as the libraries' numbers do.
struct Generator {
  explicit Generator(int64_t seed, int64_t offset);
  operator diopiGeneratorHandle_t() { return reinterpret_cast<diopiGeneratorHandle_t>(&prefix); }
  dl_generator_prefix_t prefix;
};

// An address of a value, for parameters that are pointers.
template <typename T>
class Address {
 public:
  explicit Address(T value) : value_(value) {}
  operator const T*() const { return &value_; }
  operator T*() { return &value_; }

 private:
  T value_;
};

// Returns the function of an operator of the engine; throws if it has none of this name.
void* engine_function(const char* name);
// Runs the call with a context of the engine, and throws the operator's message if it fails.
void engine_call(const char* name, const std::function<diopiError_t(diopiContextHandle_t)>& call);
// Runs a call whose outputs the operator allocates, and returns them.
std::vector<Tensor> engine_outputs(
    const char* name, size_t count,
    const std::function<diopiError_t(diopiContextHandle_t, diopiTensorHandle_t*)>& call);

template <typename T>
struct Identity {
  using type = T;
};
template <typename... Parameters>
void run(const char* name, diopiError_t (*)(diopiContextHandle_t, Parameters...),
         typename Identity<Parameters>::type... arguments) {
  const auto function = reinterpret_cast<diopiError_t (*)(diopiContextHandle_t, Parameters...)>(
      engine_function(name));
  engine_call(name, [&](diopiContextHandle_t ctx) { return function(ctx, arguments...); });
}

[[noreturn]] inline void refuse_because(const std::string& text) { throw Refusal(text); }
// Refuses unless the condition holds.
inline void demand(bool condition, const char* text) {
  if (!condition) refuse_because(text);
}

}  // namespace fake_computing

#pragma GCC visibility pop

#define RUN(op, ...) ::fake_computing::run(#op, static_cast<decltype(&::op)>(nullptr), __VA_ARGS__)
