// Errors for quantized tensors, which dl does not support, and for operators of nested tensors that
// nested.cpp does not register. They name the remedy; the dispatcher's error only lists backends.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "aten/kernel/layer_fallback.h"

namespace dl::core {
namespace {

constexpr char kNested[] =
    "nested tensors of layout torch.strided on dl; create them with layout=torch.jagged, pad them "
    "(to_padded_tensor), or split them (unbind)";
constexpr char kQuantized[] =
    "quantized tensors on dl; use x.dequantize() before x.to(\"dl\"), or compute on the CPU";

template <auto& kSubject>
void refuse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "[dl] ", op.schema().operator_name(), " does not support ",
                              kSubject);
}

template <auto& kSubject>
torch::CppFunction refusal() {
  return torch::CppFunction::makeFromBoxedFunction<&refuse<kSubject>>();
}

const bool nested_refused =
    add_layer_fallback<c10::DispatchKey::NestedTensorPrivateUse1, &refusal<kNested>>();
const bool quantized_refused =
    add_layer_fallback<c10::DispatchKey::QuantizedPrivateUse1, &refusal<kQuantized>>();

}  // namespace
}  // namespace dl::core
