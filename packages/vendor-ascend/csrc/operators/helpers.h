// Helpers of the operators' descriptions (library/library.yaml) that only this library needs.
#ifndef DL_ASCEND_OPERATORS_HELPERS_H_
#define DL_ASCEND_OPERATORS_HELPERS_H_

#include <algorithm>
#include <cstdint>

#include "dl/kit/library/call.h"
#include "dl/kit/library/values.h"

namespace dl::ascend {

// cubeMathType: 0 keeps the precision of the inputs; 1 allows HF32, which is as precise as TF32,
// for float32.
inline int64_t cube_math_type(const dl::kit::library::Call& call) {
  return dl_context_matmul_precision(call.context()) == DL_MATMUL_TF32 ? 1 : 0;
}
inline int64_t convolution_cube_math_type(const dl::kit::library::Call& call) {
  return dl_context_convolution_precision(call.context()) == DL_MATMUL_TF32 ? 1 : 0;
}

inline int64_t gelu_approximation(const char* approximate) {
  return dl::kit::library::equal(approximate, "tanh") ? 1 : 0;
}

inline int64_t scatter_reduction(const char* reduce) {
  namespace lib = dl::kit::library;
  if (reduce == nullptr || *reduce == '\0') return 0;
  if (lib::equal(reduce, "add")) return 1;
  if (lib::equal(reduce, "multiply")) return 2;
  lib::refuse("the reduction is neither add nor multiply");
}

// Masks would have to be counted on the device before the shape of a result is known.
inline bool indexable(const dl::kit::library::Views& indices) {
  return std::all_of(indices.begin(), indices.end(), [](const dl::kit::library::View& index) {
    return !index.is_present || index.dtype == diopi_dtype_int64;
  });
}

// An index without elements stands for a whole dimension.
inline dl::kit::library::Views indices(const dl::kit::library::Call& call,
                                       const dl::kit::library::Views& given) {
  dl::kit::library::Views all = given;
  for (dl::kit::library::View& index : all) {
    if (!index.is_present) index = call.temporary(dl::kit::library::Dtype{diopi_dtype_int64}, {0});
  }
  return all;
}

// The indexed dimensions become the broadcast shape of the indices: where they were if they are
// adjacent, else in front.
inline dl::kit::library::Ints indexed_shape(const dl::kit::library::View& x,
                                            const dl::kit::library::Views& indices) {
  namespace lib = dl::kit::library;
  lib::Ints common;
  int first = -1, last = -1, count = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const lib::View& index = indices[i];
    if (!index.is_present) continue;
    if (first < 0) first = static_cast<int>(i);
    last = static_cast<int>(i);
    ++count;
    while (static_cast<int64_t>(common.size()) < index.ndim) common.insert(common.begin(), 1);
    for (int32_t d = 0; d < index.ndim; ++d) {
      int64_t& size = common[common.size() - static_cast<size_t>(index.ndim - d)];
      if (size != 1 && index.sizes[d] != 1 && size != index.sizes[d])
        lib::refuse("the shapes of the indices do not broadcast");
      if (size == 1) size = index.sizes[d];
    }
  }
  if (static_cast<int64_t>(indices.size()) > x.ndim) lib::refuse("more indices than dimensions");
  const bool is_adjacent = count > 0 && last - first + 1 == count;
  lib::Ints shape;
  if (!is_adjacent) shape = common;
  for (int32_t d = 0; d < x.ndim; ++d) {
    const size_t i = static_cast<size_t>(d);
    if (is_adjacent && d == first) shape.insert(shape.end(), common.begin(), common.end());
    if (i >= indices.size() || !indices[i].is_present) shape.push_back(x.sizes[d]);
  }
  return shape;
}

}  // namespace dl::ascend

#endif  // DL_ASCEND_OPERATORS_HELPERS_H_
