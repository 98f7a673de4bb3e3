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
      refuse_because("mode is no mode");
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
