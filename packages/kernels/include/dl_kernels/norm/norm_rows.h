// Inputs and outputs of normalization over rows. GPUs share one implementation, in gpu/norm_rows.h
// and gpu/norm_parameters.h; CPUs have separate loops.
#ifndef DL_KERNELS_NORM_NORM_ROWS_H_
#define DL_KERNELS_NORM_NORM_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/norm/norm_parameter.h"
#include "dl_kernels/norm/norm_shape.h"

DL_KERNELS_BEGIN

// `mean` and `invstd` have one element per row, and may be null.
template <class T>
struct NormOutput {
  T* out;
  compute_t<T>* mean;
  compute_t<T>* invstd;
};

template <class T>
struct NormAffine {
  NormParameter<T> weight, bias;
  bool centered;  // the mean is subtracted
  // For parameters per channel of a group: elements per channel, groups per sample, channels per
  // group. Otherwise there is a parameter for each element of a row.
  int64_t positions = 0, groups = 1, group_channels = 1;
};

template <class T>
struct NormRows {
  const T* grad_output;
  const T* in;
  NormParameter<T> weight;
  const compute_t<T>* mean;  // null if rows are not centered
  const compute_t<T>* invstd;
};

template <class T, bool ByChannel>
void norm_rows(const Launch& launch, const NormShape& shape, const NormOutput<T>& to, const T* in,
               const NormAffine<T>& affine, compute_t<T> eps);

template <class T>
void norm_rows_backward(const Launch& launch, const NormShape& shape, T* grad_input,
                        const NormRows<T>& rows);

// `weight` and `bias`, the gradients of the parameters, may be null.
template <class T>
void norm_parameter_gradients(const Launch& launch, const NormShape& shape, const NormRows<T>& rows,
                              compute_t<T>* weight, compute_t<T>* bias);

DL_KERNELS_END

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/norm_parameters.h"
#include "dl_kernels/gpu/norm_rows.h"
#endif

#endif  // DL_KERNELS_NORM_NORM_ROWS_H_
