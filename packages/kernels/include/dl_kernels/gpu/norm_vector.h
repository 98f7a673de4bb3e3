// GPU: loads of a norm's weight or bias, each thread's part of a row.
#ifndef DL_KERNELS_GPU_NORM_VECTOR_H_
#define DL_KERNELS_GPU_NORM_VECTOR_H_

#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/register_rows.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/norm/norm_parameter.h"

DL_KERNELS_BEGIN

namespace gpu {

// Return the weight or bias from a thread's first group on.
template <int kW, int kL, class T>
DL_DEVICE NormParameter<T> begin_of(const Groups<kW, kL>& groups, const NormParameter<T>& all) {
  return {all.wide == nullptr ? nullptr : groups.begin(all.wide, 1),
          all.narrow == nullptr ? nullptr : groups.begin(all.narrow, 1)};
}

template <class T, int kW, int kL>
DL_DEVICE void load_parameter(const Groups<kW, kL>& groups, const NormParameter<T>& from,
                              GroupNumber group, compute_t<T> (&to)[kW]) {
  if constexpr (!std::is_same_v<T, compute_t<T>>) {
    if (from.narrow != nullptr) return groups.load(from.narrow, 1, group, to);
  }
  groups.load(from.wide, 1, group, to);
}

template <class T>
bool is_aligned(const NormParameter<T>& parameter, int elements) {
  return is_aligned(parameter.wide, elements) && is_aligned(parameter.narrow, elements);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_NORM_VECTOR_H_
