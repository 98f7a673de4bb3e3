// narrow_copy: a copy of a slice along one dimension.
#include <ATen/core/Tensor.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length).clone(at::MemoryFormat::Contiguous);
}
Tensor& narrow_copy_out(const Tensor& self, int64_t dim, int64_t start, int64_t length,
                        Tensor& out) {
  return write_to(out, self.narrow(dim, start, length), OutputDtype::same);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("narrow_copy", narrow_copy);
  DL_COMPOSED("narrow_copy.out", narrow_copy_out);
}

}  // namespace dl::core::composed
