// The entry symbol of the OpenCL vendor and its operators, which dl-kernels implements.
#include "dl_kernels/operators.h"
#include "runtime/vendor.h"

namespace dl::opencl {

kit::Operators Vendor::operators() {
  const kernels::OperatorList list = kernels::operators();
  return {list.data, list.count};
}

}  // namespace dl::opencl

DL_KIT_VENDOR(dl::opencl::Vendor)
