// Conversion of elements by the host, between arbitrary strides.
#pragma once

#include <cstdint>
#include <string>

#include "dl/handles.h"

namespace dl::adaptor {

// A strided view: dtype, sizes, strides in elements, and the address of element 0.
struct Elements {
  int32_t dtype;
  int64_t ndim;
  const int64_t* sizes;
  const int64_t* strides;
  char* data;
};

// Returns true if the host can convert between the dtypes: both are integers or bool, both are real
// floating-point, both are complex, or they are equal.
bool convertible(int32_t from, int32_t to);

// Returns true if `from` has values outside of the range of `to`.
bool narrows(int32_t from, int32_t to);

// Returns "VALUE at position N" for the first element, in row-major order, that is outside of the
// range of `to`; empty if all elements fit. Infinities fit every floating-point dtype.
std::string first_unfit(const Elements& from, int32_t to);

// Converts every element; a value that does not fit wraps around (integers) or becomes infinite.
// Both have the same sizes, and their dtypes must be convertible.
void convert(const Elements& from, const Elements& to);

}  // namespace dl::adaptor
