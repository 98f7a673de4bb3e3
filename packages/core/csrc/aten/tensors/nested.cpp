// Nested tensors of layout torch.strided. torch implements them for CPU and CUDA alike with
// operators on their buffers, so the kernels registered for the CPU run on any device. Kernels that
// access the buffer directly are not listed; layouts.cpp raises errors for their operators.
//
// Sizes must be available, because autograd reads them where it must not throw: when it constructs
// torch::autograd::InputMetadata for a node, an exception terminates the process.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "runtime/first_use.h"

namespace dl::core {
namespace {

constexpr const char* kOfBuffers[] = {
    // Sizes, strides and offsets.
    "_nested_tensor_size", "_nested_tensor_strides", "_nested_tensor_storage_offsets",
    "is_same_size",
    // Views.
    "alias", "chunk", "detach", "narrow", "select.int", "split_with_sizes", "squeeze",
    "squeeze.dim", "squeeze.dims", "transpose.int", "unbind.int", "unsqueeze", "values", "view",
    // Copies.
    "_nested_from_padded_and_nested_example", "_to_copy", "cat", "clone", "copy_", "empty_like",
    "fill_.Scalar", "fill_.Tensor", "normal_", "ones_like", "zero_",
    // Elements.
    "abs", "abs_", "add.Tensor", "add_.Tensor", "cos", "div.Scalar", "div.Tensor", "eq.Scalar",
    "eq.Tensor", "ge.Scalar", "gelu", "gelu_", "gelu_backward", "gt.Scalar", "isinf", "isnan",
    "isneginf", "isposinf", "logical_not", "logical_not_", "masked_fill.Scalar", "mul.Scalar",
    "mul.Tensor", "mul_.Scalar", "mul_.Tensor", "neg", "neg_", "relu", "relu_", "sgn", "sgn_",
    "silu", "silu_", "silu_backward", "sin", "sqrt", "sub.Tensor", "tanh", "tanh_",
    "threshold_backward", "where.self", "where.self_out",
    // Products and attention.
    "_nested_select_backward", "_safe_softmax", "_softmax", "_softmax_backward_data", "all.dim",
    "bmm", "embedding", "linear", "linear_backward", "matmul", "matmul.out", "matmul_backward",
    "native_dropout", "native_dropout_backward", "value_selecting_reduction_backward"};

// Operators that create a nested tensor from a dense tensor and from sizes, which are always on the
// CPU.
constexpr const char* kOfDense[] = {"_nested_view_from_buffer", "_nested_from_padded"};

template <c10::DispatchKey key>
void as_on(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.redispatchBoxed(c10::DispatchKeySet(key), stack);
}

template <c10::DispatchKey ours, c10::DispatchKey theirs, size_t count>
void register_as_theirs(const char* const (&names)[count]) {
  // Never destroyed, because registrations last until the process exits.
  static auto* library = new torch::Library(torch::Library::IMPL, "aten", ours, __FILE__, __LINE__);
  for (const char* name : names)
    library->impl(name, torch::CppFunction::makeFromBoxedFunction<&as_on<theirs>>());
}

const bool registered = put_off_until_first_use([] {
  using Key = c10::DispatchKey;
  register_as_theirs<Key::NestedTensorPrivateUse1, Key::NestedTensorCPU>(kOfBuffers);
  register_as_theirs<Key::PrivateUse1, Key::CPU>(kOfDense);
});

}  // namespace
}  // namespace dl::core
