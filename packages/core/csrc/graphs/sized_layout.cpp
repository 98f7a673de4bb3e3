#include "graphs/sized_layout.h"

namespace dl::core {
namespace {

bool evaluate(const std::vector<SizeExpression>& each, const Sizes& symbols,
              std::vector<int64_t>& out) {
  for (const SizeExpression& expression : each) {
    int64_t value = 0;
    if (!expression.value(symbols, value) || value < 0) return false;
    out.push_back(value);
  }
  return true;
}

}  // namespace

bool TensorLayout::holds(const at::Tensor& tensor) const {
  const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  return impl->dtype() == c10::scalarTypeToTypeMeta(type) && impl->sizes() == sizes &&
         impl->strides() == strides && (offset == kAnyOffset || impl->storage_offset() == offset) &&
         !impl->is_conj() && !impl->is_neg();
}

std::optional<TensorLayout> SizedLayout::bound(const Sizes& symbols) const {
  TensorLayout out{type, {}, {}, 0};
  if (!evaluate(sizes, symbols, out.sizes) || !evaluate(strides, symbols, out.strides) ||
      !offset.value(symbols, out.offset) || out.offset < kAnyOffset)
    return std::nullopt;
  return out;
}

}  // namespace dl::core
