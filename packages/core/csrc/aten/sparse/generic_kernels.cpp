// torch's own sparse kernels that are composed of operators on indices and values and therefore run
// on any device. torch registers them for its own devices only; here they are registered for dl.
// Operators whose kernels access memory directly are in other files or run on the CPU.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "aten/fallback/boxed_arguments.h"
#include "aten/kernel/composed.h"
#include "calls/call_counts.h"
#include "runtime/device.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

// The dl device of the first tensor or device argument on dl.
int device_of_arguments(const torch::jit::Stack& stack, size_t begin, size_t count) {
  int index = -1;
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t) {
    if (index < 0 && holds_dl(tensor)) index = tensor.get_device();
  });
  for (size_t i = begin; i < begin + count && index < 0; ++i) {
    if (stack[i].isDevice() && stack[i].toDevice().type() == kDeviceType)
      index = device_or_current(stack[i].toDevice().index());
  }
  return index < 0 ? current_device() : index;
}

template <c10::DispatchKey key>
void call_generic(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_not_forked();
  const size_t count = op.schema().arguments().size();
  const DeviceScope scope(device_of_arguments(*stack, stack->size() - count, count));
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  count_call(&ThreadCounts::composed);
  op.redispatchBoxed(c10::DispatchKeySet(key), stack);
}

template <c10::DispatchKey key>
void serve(torch::Library& library, std::initializer_list<const char*> overloads) {
  for (const char* overload : overloads) {
    library.impl(overload, torch::CppFunction::makeFromBoxedFunction<&call_generic<key>>());
  }
}

// Functions with f(0) = 0, applied to the values. Functional, in-place and out= forms.
template <c10::DispatchKey key>
void serve_functions_of_values(torch::Library& library) {
  for (const char* name :
       {"abs",    "asin",  "asinh", "atan", "atanh", "ceil", "deg2rad", "erf",
        "erfinv", "expm1", "floor", "frac", "log1p", "neg",  "rad2deg", "round",
        "sgn",    "sign",  "sin",   "sinh", "sqrt",  "tan",  "tanh",    "trunc"}) {
    for (const std::string form : {"", "_", ".out"}) {
      serve<key>(library, {(name + form).c_str()});
    }
  }
  serve<key>(library, {"relu", "relu_", "isnan", "isinf", "isneginf", "isneginf.out", "isposinf",
                       "isposinf.out", "signbit", "signbit.out", "conj_physical.out",
                       "threshold_backward", "threshold_backward.grad_input"});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, library) {
  constexpr auto key = c10::DispatchKey::SparseCPU;
  serve_functions_of_values<key>(library);
  // Creation, movement and inspection.
  serve<key>(library, {"empty.memory_format",
                       "empty_like",
                       "clone",
                       "copy_",
                       "copy_sparse_to_sparse_",
                       "zero_",
                       "zeros.out",
                       "_sparse_coo_tensor_with_dims",
                       "_sparse_coo_tensor_with_dims_and_tensors",
                       "sparse_resize_",
                       "sparse_resize_and_clear_",
                       "resize_as_sparse_",
                       "sparse_dim",
                       "dense_dim",
                       "_dimI",
                       "_dimV",
                       "_nnz",
                       "is_coalesced",
                       "_coalesced_",
                       "_indices",
                       "_values",
                       "indices",
                       "values",
                       "_to_dense",
                       "_to_sparse",
                       "_to_sparse.sparse_dim",
                       "_to_sparse_csr",
                       "_to_sparse_csc",
                       "_to_sparse_bsr",
                       "_to_sparse_bsc"});
  serve<key>(library, {"cat", "narrow_copy", "permute", "unsqueeze", "_sparse_broadcast_to",
                       "view_as_real", "view_as_complex"});
  // Arithmetic. The inner operators add.out and mul.out are in arithmetic.cpp.
  serve<key>(library, {"add.Tensor",
                       "add_.Tensor",
                       "sub.Tensor",
                       "sub_.Tensor",
                       "sub.out",
                       "mul.Tensor",
                       "mul_.Tensor",
                       "div.Tensor",
                       "div_.Tensor",
                       "div.out",
                       "div.Tensor_mode",
                       "div_.Tensor_mode",
                       "div.out_mode",
                       "floor_divide",
                       "floor_divide_.Tensor",
                       "floor_divide.out",
                       "pow.Tensor_Scalar",
                       "pow.Tensor_Scalar_out",
                       "nan_to_num",
                       "nan_to_num_",
                       "nan_to_num.out",
                       "mm",
                       "mv"});
  serve<key>(library,
             {"sum", "sum.dim_IntList", "any", "native_norm", "native_norm.ScalarOpt_dim_dtype",
              "norm.ScalarOpt_dim_dtype", "norm.ScalarOpt_dim"});
}

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, library) {
  constexpr auto key = c10::DispatchKey::SparseCsrCPU;
  serve_functions_of_values<key>(library);
  serve<key>(library,
             {"angle", "angle.out", "_conj_physical", "conj_physical_", "mul.Scalar", "mul_.Scalar",
              "mul.Tensor", "mul_.Tensor", "mul.out", "add.Tensor", "add_.Tensor"});
  serve<key>(library, {"empty.memory_format",
                       "empty_like",
                       "clone",
                       "copy_",
                       "zero_",
                       "fill_.Scalar",
                       "normal_",
                       "resize_",
                       "resize_as_sparse_",
                       "sparse_dim",
                       "dense_dim",
                       "_nnz",
                       "values",
                       "crow_indices",
                       "col_indices",
                       "ccol_indices",
                       "row_indices",
                       "select.int",
                       "select_copy.int",
                       "sum",
                       "sum.dim_IntList",
                       "_to_dense",
                       "_to_sparse",
                       "_to_sparse.sparse_dim",
                       "mm",
                       "addmm",
                       "sparse_mask"});
}

// Conversion of dense tensors to sparse ones.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  serve<c10::DispatchKey::CPU>(library, {"_to_sparse", "_to_sparse.sparse_dim", "_to_sparse_csr",
                                         "_to_sparse_csc", "_to_sparse_bsr", "_to_sparse_bsc"});
}

}  // namespace dl::core
