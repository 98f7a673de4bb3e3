// Softmax and normalizations.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

// The dimension that a mode names, of three.
int64_t dimension_of(int64_t mode, const Tensor& x) {
  demand(x.rank() == 3, "softmax takes three dimensions");
  switch (mode) {
    case CNNL_SOFTMAX_MODE_HIGH_DIMENSION:
      return 0;
    case CNNL_SOFTMAX_MODE_MEDIUM_DIMENSION:
      return 1;
    case CNNL_SOFTMAX_MODE_LOW_DIMENSION:
      return 2;
    default:
      refuse_because("mode is not a mode");
  }
}

}  // namespace

MEANING(SoftmaxForward_v2) {
  demand(!alpha && !beta, "alpha and beta are not simulated");
  demand(x.sizes() == y.sizes() && x.dtype() == y.dtype(), "shapes or dtypes differ");
  const int64_t dim = dimension_of(mode, x);
  if (algorithm == CNNL_SOFTMAX_LOG) return RUN(diopiLogSoftmax, y, x, dim);
  demand(algorithm == CNNL_SOFTMAX_ACCURATE, "the algorithm is not simulated");
  RUN(diopiSoftmax, y, x, dim);
}
MEANING(SoftmaxBackward) {
  demand(!alpha && !beta, "alpha and beta are not simulated");
  demand(y.sizes() == diff_x.sizes() && diff_y.sizes() == y.sizes(), "the shapes differ");
  const int64_t dim = dimension_of(mode, y);
  if (algorithm == CNNL_SOFTMAX_LOG) return RUN(diopiLogSoftmaxBackward, diff_x, diff_y, y, dim);
  demand(algorithm == CNNL_SOFTMAX_ACCURATE, "the algorithm is not simulated");
  RUN(diopiSoftmaxBackward, diff_x, diff_y, y, dim);
}

namespace {

// The sizes from a dimension on: those that are normalized together.
Ints normalized(const Tensor& x, int64_t axis) {
  demand(axis >= 0 && axis < x.rank(), "axis is out of range");
  return Ints{true, Sizes(x.sizes().begin() + axis, x.sizes().end())};
}
void demand_statistics(const Tensor& statistics, const Tensor& x, int64_t axis) {
  int64_t rows = 1;
  for (int64_t d = 0; d < axis; ++d) rows *= x.size(d);
  demand(statistics.numel() == rows, "the statistics have another number of elements");
}
// Statistics as the engine takes them: with the dimensions of x, of size 1 where it is normalized.
Tensor with_dimensions(const Tensor& statistics, const Tensor& x, int64_t axis) {
  Sizes sizes = x.sizes();
  for (int64_t d = axis; d < x.rank(); ++d) sizes[static_cast<size_t>(d)] = 1;
  return statistics.reshape(sizes);
}

}  // namespace

MEANING(LayerNormForward) {
  const Ints sizes = normalized(x, axis);
  demand_statistics(mean_rstd, x, axis);
  demand(x.sizes() == y.sizes() && x.dtype() == y.dtype(), "shapes or dtypes differ");
  demand(!filter || filter.sizes() == sizes.values, "filter has another shape");
  const Tensor mean = with_dimensions(mean_rstd, x, axis);
  const Tensor rstd = with_dimensions(saved_rstd, x, axis);
  RUN(diopiLayerNorm, y, mean, rstd, x, filter, bias, sizes, eps);
}
MEANING(LayerNormBackward_v2) {
  const Ints sizes = normalized(x, axis);
  demand_statistics(mean_rstd, x, axis);
  demand(x.sizes() == diff_x.sizes() && x.sizes() == diff_z.sizes(), "the shapes differ");
  demand(bool(filter) == bool(diff_filter), "filter and its gradient are not both present");
  RUN(diopiLayerNormBackward, diff_x, diff_filter, diff_bias, diff_z, x, filter, Tensor(),
      with_dimensions(mean_rstd, x, axis), with_dimensions(saved_rstd, x, axis), sizes);
}
// rms has the reciprocals of the root mean squares.
MEANING(RmsNormForward) {
  const Ints sizes = normalized(x, axis);
  demand_statistics(rms, x, axis);
  RUN(diopiRMSNorm, y, with_dimensions(rms, x, axis), x, sizes, filter, bias, eps);
}
MEANING(RmsNormBackward) {
  const Ints sizes = normalized(x, axis);
  demand_statistics(rms, x, axis);
  RUN(diopiRMSNormBackward, diff_x, diff_filter, diff_bias, diff_z, x, filter, Tensor(),
      with_dimensions(rms, x, axis), sizes, 0.0);
}

namespace {

Tensor nchw(const Tensor& x) { return x ? x.permute({0, 3, 1, 2}) : x; }

void demand_plain(const Described& activation, int64_t mode, int64_t ops) {
  demand(activation["mode"] == CNNL_ACTIVATION_IDENTITY, "an activation is not simulated");
  demand(mode == CNNL_BATCHNORM_SPATIAL && ops == CNNL_BATCHNORM_OPS_BN,
         "mode and bnOps are not simulated");
}
void demand_channels(const Tensor& parameter, const Tensor& x) {
  demand(!parameter || parameter.sizes() == Sizes{x.size(3)}, "a parameter is not one per channel");
}

}  // namespace

MEANING(BatchNormForwardTraining_v2) {
  demand_plain(activation_desc, mode, bnOps);
  demand(!alpha && !beta && !z && !reservespace, "alpha, beta, z and reservespace are not NULL");
  demand(reservespace_size == 0, "reservespace is NULL, and its size is not 0");
  demand(x.sizes() == y.sizes(), "the shapes differ");
  demand_channels(filter, x);
  RUN(diopiBatchNorm, nchw(y), saved_mean, saved_invstd, nchw(x), filter, bias, moving_mean,
      moving_var, true, momentum, eps);
}
MEANING(BatchNormForwardInference) {
  demand(!alpha && !beta, "alpha and beta are not simulated");
  demand(x.sizes() == z.sizes(), "the shapes differ");
  demand_channels(filter, x);
  RUN(diopiBatchNorm, nchw(z), Tensor(), Tensor(), nchw(x), filter, bias, estimated_mean,
      estimated_var, false, 0.0, eps);
}
MEANING(BatchNormBackward_v2) {
  demand_plain(activation_desc, mode, bnOps);
  demand(!alpha_data_diff && !beta_data_diff && !alpha_param_diff && !beta_param_diff && !y &&
             !diff_residual && !reservespace,
         "an argument that must be NULL is not");
  demand(reservespace_size == 0, "reservespace is NULL, and its size is not 0");
  demand(x.sizes() == diff_x.sizes() && x.sizes() == diff_z.sizes(), "the shapes differ");
  demand_channels(filter, x);
  RUN(diopiBatchNormBackward, nchw(diff_x), diff_filter, diff_bias, nchw(diff_z), nchw(x), filter,
      Tensor(), Tensor(), saved_mean, saved_invstd, true, eps);
}
