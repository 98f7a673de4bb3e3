// logical_not and logical_xor, composed of comparisons with 0.
#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

Tensor logical_not(const Tensor& x) {
  return x.scalar_type() == at::kBool ? x.bitwise_not() : x.eq(0);
}
Tensor as_bool(const Tensor& x) { return x.scalar_type() == at::kBool ? x : x.ne(0); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return as_bool(a).ne(as_bool(b)); }

using LogicalNot = Unary<logical_not, Promotion::comparison, "logical_not">;
using LogicalXor = Binary<logical_xor, Promotion::comparison, "logical_xor">;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED_FORMS("logical_not", "logical_not.out", "logical_not_", LogicalNot);
  DL_COMPOSED_FORMS("logical_xor", "logical_xor.out", "logical_xor_", LogicalXor);
}

}  // namespace dl::core::composed
