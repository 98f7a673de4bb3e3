// The entry symbol of the CUDA vendor and its operators, which dl-kernels implements.
#include "dl_kernels/operators.h"
#include "runtime/vendor.h"

namespace dl::cuda {

kit::Operators Vendor::operators() {
  const kernels::OperatorList list = kernels::operators();
  return {list.data, list.count};
}

}  // namespace dl::cuda

DL_KIT_VENDOR(dl::cuda::Vendor)
