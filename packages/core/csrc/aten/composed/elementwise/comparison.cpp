// isnan; equal, which returns one boolean for all elements; is_set_to, which compares no elements.
#include <ATen/core/Tensor.h>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

Tensor isnan(const Tensor& self) { return self.ne(self); }

Site equal_site{"equal", {"equal"}, {Op::diopiEqual}};

bool equal(const Tensor& self, const Tensor& other) {
  const int index = core::device_of(self);
  if (index >= 0 && self.device() == other.device() && self.dtype() == other.dtype() &&
      !equal_site.disabled.load(std::memory_order_relaxed)) {
    const auto function = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiEqual);
    NativeCall call(equal_site, index);
    bool result = false;
    if (function != nullptr && call.run("diopiEqual", function, &result, TensorHandle(self).get(),
                                        TensorHandle(other).get())) {
      return result;
    }
  }
  return on_cpu<"equal", bool(const Tensor&, const Tensor&)>(self, other);
}

bool is_set_to(const Tensor& self, const Tensor& source) {
  return self.storage().unsafeGetStorageImpl() == source.storage().unsafeGetStorageImpl() &&
         self.storage_offset() == source.storage_offset() && self.sizes() == source.sizes() &&
         self.strides() == source.strides();
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("isnan", isnan);
  DL_KERNEL("equal", equal);
  DL_COMPOSED("is_set_to", is_set_to);
}

}  // namespace dl::core::composed
