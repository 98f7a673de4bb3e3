// Elements converted by the host, from any strides to any strides.
#pragma once

#include <cstdint>
#include <string>

#include "dl/handles.h"

namespace dl::adaptor {

// Where elements lie: a dtype, strides in elements, and the address of element 0.
struct Elements {
  int32_t dtype;
  int64_t ndim;
  const int64_t* sizes;
  const int64_t* strides;
  char* data;
};

// Whether dtypes have a conversion here: integers and bool among each other, real floating-point
// numbers, complex ones. Equal dtypes always have one.
bool convertible(int32_t from, int32_t to);

// Whether there are numbers of `from` that lie beyond those of `to`.
bool narrows(int32_t from, int32_t to);

// The first element, in row-major order, that lies beyond the numbers of `to`: its value and its
// place, as the end of a sentence. Empty: all fit. Infinities fit where there are some.
std::string first_unfit(const Elements& from, int32_t to);

// Converts every element; what does not fit keeps its low bits, or becomes infinite. The sizes of
// both are equal, and the dtypes convertible.
void convert(const Elements& from, const Elements& to);

}  // namespace dl::adaptor
