// The helpers that expressions of a library vendor call as @name.
#ifndef DL_KIT_LIBRARY_HELPERS_H_
#define DL_KIT_LIBRARY_HELPERS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "dl/kit/base.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/values.h"
#include "dl/kit/library/views.h"

DL_KIT_BEGIN

namespace library {

inline Scalar scalar(double value) { return scalar_of(value); }
// A number in the dtype of a tensor; integers are truncated.
inline Scalar scalar_like(double value, const View& like) {
  Scalar made = scalar_of(value);
  if (is_floating(like)) {
    made.value.stype = static_cast<diopiDtype_t>(like.dtype);
  } else if (!is_complex(like)) {
    made = scalar_of(static_cast<int64_t>(value));
    made.value.stype = static_cast<diopiDtype_t>(like.dtype);
  }
  return made;
}
inline Scalar or_scalar(const Scalar& given, double otherwise) {
  return given.is_present ? given : scalar_of(otherwise);
}
inline int64_t or_int(const int64_t* given, int64_t otherwise) {
  return given == nullptr ? otherwise : *given;
}
inline double or_double(const double* given, double otherwise) {
  return given == nullptr ? otherwise : *given;
}
inline bool or_bool(const bool* given, bool otherwise) {
  return given == nullptr ? otherwise : *given;
}
inline double number(const Scalar& scalar) {
  return scalar.is_present ? number_of<double>(&scalar.value) : 0.0;
}

inline int64_t integer(const Scalar& scalar) {
  if (!scalar.is_present) return 0;
  const auto value = number_of<int64_t>(&scalar.value);
  if (static_cast<double>(value) != number(scalar)) refuse("a fraction where an integer is needed");
  return value;
}
inline double sqrt(double x) { return std::sqrt(x); }
inline double power(double x, double exponent) { return std::pow(x, exponent); }

inline Ints dims(const Ints& given, const View& of) {
  if (!given.empty()) return given;
  Ints all;
  for (int32_t d = 0; d < of.ndim; ++d) all.push_back(d);
  return all;
}
inline Ints dim(const int64_t* given) { return given == nullptr ? Ints{} : Ints{*given}; }
inline int64_t one_dim(const int64_t* given, const View&) { return given == nullptr ? 0 : *given; }
// Reductions keep their dimensions if the output has as many as the input.
inline bool keepdim(const View& input, const View& output) { return input.ndim == output.ndim; }
inline View flat_if_null(const View& x, const int64_t* given) {
  return given == nullptr ? flat(x) : x;
}
inline Ints shape(const View& x) { return Ints(x.sizes, x.sizes + x.ndim); }
inline Ints tail(const View& x, int64_t from) {
  return Ints(x.sizes + dimension(x, from), x.sizes + x.ndim);
}

inline bool alike(const Views& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const View& each) { return same_shape(each, tensors.front()); });
}
inline Ints reduced(const View& x, int64_t dim) {
  Ints sizes = shape(x);
  sizes[static_cast<size_t>(dimension(x, dim))] = 1;
  return sizes;
}
inline bool is_dense(const Ints& dilation) {
  for (const int64_t each : dilation) {
    if (each > 1) return false;
  }
  return true;
}

// The numbers of a window, one for each of its dimensions; a single number counts for all.
inline Ints window(const Ints& given, size_t count) {
  if (given.size() == count) return given;
  if (given.size() == 1) return Ints(count, given[0]);
  refuse("a window has " + std::to_string(given.size()) + " numbers, not " + std::to_string(count));
}
inline Ints pair(const Ints& given) { return window(given, 2); }
inline Ints triple(const Ints& given) { return window(given, 3); }
inline Ints one(const Ints& given) { return Ints{1, window(given, 1)[0]}; }
inline Ints zero(const Ints& given) { return Ints{0, window(given, 1)[0]}; }
inline Ints stride(const Ints& given, const Ints& window) { return given.empty() ? window : given; }
template <class... T>
Ints ints(T... values) {
  return Ints{static_cast<int64_t>(values)...};
}

template <class... T>
Bools mask(const T&... tensors) {
  return Bools{tensors.is_present...};
}
inline Views prefix(const Views& list, int64_t count) {
  if (count < 0 || count > static_cast<int64_t>(list.size())) refuse("a list is too short");
  return Views(list.begin(), list.begin() + count);
}
inline Views flat_all(const Views& list) {
  Views result;
  for (const View& x : list) result.push_back(flat(x));
  return result;
}
inline Views list(const View& x) { return Views{x}; }
inline View entry(const Views& list, int64_t index) { return at(list, index); }

// Allocates a tensor for the caller of the operator, which belongs to the context.
inline View require(const Call& call, diopiTensorHandle_t* slot, const Ints& sizes, Dtype dtype) {
  const diopiSize_t shape{sizes.data(), static_cast<int64_t>(sizes.size())};
  if (diopiRequireTensor(call.context(), slot, &shape, nullptr,
                         static_cast<diopiDtype_t>(dtype.value), diopi_device) != diopiSuccess)
    throw Error(DL_OUT_OF_MEMORY,
                "the host has no memory for the result of " + std::string(call.name()),
                "diopiRequireTensor");
  return view_of(*slot);
}

// As require, with the sizes and dtype of a tensor, in a diopiMemoryFormat_t. Preserve keeps the
// order of a tensor without gaps.
inline View require_like(const Call& call, diopiTensorHandle_t* slot, const View& x,
                         int64_t format) {
  Ints order;  // dimensions, the outermost in memory first
  for (int32_t d = 0; d < x.ndim; ++d) order.push_back(d);
  const int64_t channels_last = format == ChannelsLast     ? 4
                                : format == ChannelsLast3d ? 5
                                : format == ChannelsLast1d ? 3
                                                           : 0;
  if (channels_last != 0) {
    if (x.ndim != channels_last) refuse("a memory format for another number of dimensions");
    order.erase(order.begin() + 1);
    order.push_back(1);
  } else if (format == Preserve) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return x.strides[a] > x.strides[b]; });
    View sorted = permuted(x, order);
    if (!sorted.is_contiguous()) std::sort(order.begin(), order.end());
  } else if (format != Contiguous) {
    refuse("an unknown memory format");
  }
  Ints strides(order.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = static_cast<size_t>(order[i]);
    strides[d] = stride;
    stride *= std::max<int64_t>(x.sizes[d], 1);
  }
  const diopiSize_t sizes{x.sizes, x.ndim}, steps{strides.data(), x.ndim};
  if (diopiRequireTensor(call.context(), slot, &sizes, &steps, static_cast<diopiDtype_t>(x.dtype),
                         diopi_device) != diopiSuccess)
    throw Error(DL_OUT_OF_MEMORY,
                "the host has no memory for the result of " + std::string(call.name()),
                "diopiRequireTensor");
  return view_of(*slot);
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_HELPERS_H_
