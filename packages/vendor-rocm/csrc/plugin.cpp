// The entry symbol of the ROCm vendor and its operators, which dl-kernels implements.
#include "dl_kernels/operators.h"
#include "runtime/vendor.h"

namespace dl::rocm {

kit::Operators Vendor::operators() {
  const kernels::OperatorList list = kernels::operators();
  return {list.data, list.count};
}

}  // namespace dl::rocm

DL_KIT_VENDOR(dl::rocm::Vendor)
