// Values in the generated operators of a library vendor: views of tensors, scalars, lists.
#ifndef DL_KIT_LIBRARY_VALUES_H_
#define DL_KIT_LIBRARY_VALUES_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "diopi/diopirt.h"
#include "dl/dtype.h"
#include "dl/handles.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"
#include "dl/kit/tensor.h"

DL_KIT_BEGIN

namespace library {

// Largest number of dimensions of a tensor that a library gets; others are declined.
constexpr int kMaxDims = 8;

struct Dtype {
  int32_t value;
};
inline bool operator==(Dtype a, Dtype b) { return a.value == b.value; }

inline const char* dtype_name(int32_t dtype) {
  constexpr const char* kNames[] = {"int8",      "uint8",     "int16",    "uint16",   "int32",
                                    "uint32",    "int64",     "uint64",   "float16",  "float32",
                                    "float64",   "bool",      "bfloat16", "tfloat32", "complex32",
                                    "complex64", "complex128"};
  return dtype >= 0 && dtype < 17 ? kNames[dtype] : "an unknown dtype";
}

// Categories of dtypes in the order of type promotion.
enum Category { kBooleans, kIntegers, kFloating, kComplex };
inline Category category_of(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_bool:
      return kBooleans;
    case diopi_dtype_float16:
    case diopi_dtype_bfloat16:
    case diopi_dtype_tfloat32:
    case diopi_dtype_float32:
    case diopi_dtype_float64:
      return kFloating;
    case diopi_dtype_complex32:
    case diopi_dtype_complex64:
    case diopi_dtype_complex128:
      return kComplex;
    default:
      return kIntegers;
  }
}

// Declines the call, or the case, that is being planned.
[[noreturn]] inline void refuse(const std::string& reason) {
  throw Error(DL_NOT_SUPPORTED, reason);
}

// A tensor, or another shape and strides of its memory. Strides and the offset count elements.
struct View {
  void* storage = nullptr;  // start of the memory block
  int64_t storage_bytes = 0;
  int64_t offset = 0;
  int32_t dtype = diopi_dtype_unsupported;
  int32_t ndim = 0;
  int64_t sizes[kMaxDims] = {};
  int64_t strides[kMaxDims] = {};
  int32_t format = -1;           // the library's number; -1: its default for this many dimensions
  bool is_present = false;       // false for NULL
  bool contiguous_only = false;  // pass a contiguous copy
  bool is_temporary = false;     // memory of the call, which the host does not see
  bool any_dtype = false;        // the case lists its dtypes, so documented ones are not checked

  int64_t numel() const {
    int64_t count = 1;
    for (int d = 0; d < ndim; ++d) count *= sizes[d];
    return count;
  }
  int64_t element_bytes() const { return dl_dtype_bytes(dtype); }
  // Address of the first element.
  void* data() const { return static_cast<char*>(storage) + offset * element_bytes(); }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int d = ndim - 1; d >= 0; --d) {
      if (sizes[d] == 0) return true;
      if (sizes[d] != 1 && strides[d] != expected) return false;
      expected *= sizes[d];
    }
    return true;
  }
};

using Views = std::vector<View>;
using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

struct Bools {
  Bools() = default;
  Bools(std::initializer_list<bool> given) {
    for (const bool each : given) values.push_back(each ? 1 : 0);
  }
  std::vector<char> values;  // not vector<bool>, which has no array
  size_t size() const { return values.size(); }
};

// A number with a dtype; absent for NULL.
struct Scalar {
  bool is_present = false;
  diopiScalar_t value{};
};

// The view of a tensor that the library can take; absent for NULL. Declines other layouts.
inline View view_of(diopiConstTensorHandle_t handle) {
  View view;
  if (handle == nullptr) return view;
  const dl_tensor_prefix_t& tensor = tensor_of(handle);
  if ((tensor.flags & (DL_TENSOR_SPARSE_CSR | DL_TENSOR_PRIVATE_FORMAT)) != 0)
    refuse("a tensor is sparse or has a private format");
  if (tensor.ndim > kMaxDims)
    refuse("a tensor has " + std::to_string(tensor.ndim) + " dimensions, and the library takes " +
           std::to_string(kMaxDims) + " at most");
  view.is_present = true;
  view.storage = tensor.storage;
  view.storage_bytes = tensor.storage_bytes;
  view.offset = tensor.storage_offset;
  view.dtype = tensor.dtype;
  view.ndim = static_cast<int32_t>(tensor.ndim);
  std::copy_n(tensor.sizes, tensor.ndim, view.sizes);
  std::copy_n(tensor.strides, tensor.ndim, view.strides);
  return view;
}
// An absent list, such as the maxima of an optimizer without amsgrad, is empty.
template <class Handle>
Views views_of(const Handle* handles, int64_t count) {
  Views views;
  if (handles == nullptr) return views;
  views.reserve(static_cast<size_t>(count < 0 ? 0 : count));
  for (int64_t i = 0; i < count; ++i) views.push_back(view_of(handles[i]));
  return views;
}
inline Scalar scalar_of(const diopiScalar_t* given) {
  Scalar scalar;
  if (given != nullptr) {
    scalar.is_present = true;
    scalar.value = *given;
  }
  return scalar;
}
inline Scalar scalar_of(int64_t given) {
  Scalar scalar;
  scalar.is_present = true;
  scalar.value.stype = diopi_dtype_int64;
  scalar.value.ival = given;
  return scalar;
}
inline Scalar scalar_of(bool given) {
  Scalar scalar = scalar_of(int64_t{given});
  scalar.value.stype = diopi_dtype_bool;
  return scalar;
}
inline Scalar scalar_of(double given) {
  Scalar scalar;
  scalar.is_present = true;
  scalar.value.stype = diopi_dtype_float64;
  scalar.value.fval = given;
  return scalar;
}
inline Ints ints_of(diopiSize_t given) {
  return given.data == nullptr ? Ints{} : Ints(given.data, given.data + given.len);
}
inline Doubles doubles_of(const Ints& given) { return Doubles(given.begin(), given.end()); }

// Conditions.
inline bool present(const View& view) { return view.is_present; }
inline bool present(const Scalar& scalar) { return scalar.is_present; }
inline bool present(const Ints& ints) { return !ints.empty(); }
inline bool present(const void* pointer) { return pointer != nullptr; }
inline bool equal(const char* a, const char* b) {
  return a == nullptr || b == nullptr ? a == b : std::strcmp(a, b) == 0;
}
inline bool equal(Dtype a, Dtype b) { return a == b; }
inline bool equal(const Ints& a, const Ints& b) { return a == b; }
template <class T>
bool among(T value, std::initializer_list<T> allowed) {
  for (const T& each : allowed) {
    if (each == value) return true;
  }
  return false;
}
inline bool among(const char* value, std::initializer_list<const char*> allowed) {
  for (const char* each : allowed) {
    if (equal(each, value)) return true;
  }
  return false;
}

template <class List>
auto at(const List& list, int64_t index) -> typename List::value_type {
  if (index < 0 || index >= static_cast<int64_t>(list.size()))
    refuse("entry " + std::to_string(index) + " of a list of " + std::to_string(list.size()));
  return list[static_cast<size_t>(index)];
}
inline int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) refuse("a division by zero");
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// An object of the library that a helper makes, such as the descriptor of an operator. It lives as
// long as a call that takes it.
struct Object {
  std::shared_ptr<const void> owner;
  void* pointer = nullptr;
};

// An argument of a library's function; without a value for NULL.
struct Argument {
  Argument() = default;
  explicit Argument(const View& given) {
    if (given.is_present) value = given;
  }
  explicit Argument(Views given) : value(std::move(given)) {}
  explicit Argument(const Scalar& given) {
    if (given.is_present) value = given;
  }
  explicit Argument(Ints given) : value(std::move(given)) {}
  explicit Argument(Bools given) : value(std::move(given)) {}
  explicit Argument(Doubles given) : value(std::move(given)) {}
  explicit Argument(Dtype given) : value(given) {}
  explicit Argument(int64_t given) : value(given) {}
  explicit Argument(double given) : value(given) {}
  explicit Argument(bool given) : value(given) {}
  explicit Argument(const char* given) : value(given) {}
  explicit Argument(Object given) : value(std::move(given)) {}

  std::variant<std::monostate, View, Views, Scalar, Ints, Bools, Doubles, Dtype, int64_t, double,
               bool, const char*, Object>
      value;

  bool is_null() const { return value.index() == 0; }
  const View* view() const { return std::get_if<View>(&value); }
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_VALUES_H_
