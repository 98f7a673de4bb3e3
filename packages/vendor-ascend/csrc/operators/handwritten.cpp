#include "operators/handwritten.h"

#include <algorithm>
#include <vector>

#include "dl/kit/library/helpers.h"
#include "dl/kit/library/host_elements.h"
#include "dl/kit/library/plan.h"
#include "dl/kit/library/two_phase.h"
#include "generated/functions.gen.h"
#include "operators/objects.h"

namespace dl::ascend {
namespace {

namespace lib = kit::library;

// Runs a function whose last argument is the largest possible result, and stores a tensor of the
// sizes that the function has set.
void store_result(lib::Call& call, const lib::Function& function,
                  const std::vector<lib::Argument>& arguments, const lib::View& most,
                  diopiTensorHandle_t* out) {
  // This vendor has no other backend.
  auto& backend = static_cast<lib::TwoPhaseBackend<Objects>&>(call.backend());
  dl_vendor_t* const vendor = dl_context_vendor(call.context());
  const auto shapes = backend.run_and_read_shapes(call, function, arguments, [&] {
    lib::check_slot(vendor->table->stream_synchronize(vendor, call.device(), call.stream()));
  });
  const lib::Ints& sizes = shapes.back();
  if (static_cast<int64_t>(sizes.size()) != most.ndim)
    throw kit::Error(DL_ERROR, std::string(function.name) + " did not set the sizes of its result");
  const lib::View result = lib::require(call, out, sizes, lib::Dtype{most.dtype});
  if (result.numel() == 0) return;
  // The rows of the result are the first ones of `most`, without gaps.
  lib::View found = result;
  found.storage = most.storage;
  found.storage_bytes = most.storage_bytes;
  found.offset = most.offset;
  lib::run_copy(call, result, found);
}

void check_documented(const lib::Function& function, int position, const lib::View& x) {
  const uint32_t dtypes = function.arguments[position].dtypes;
  if (dtypes != 0 && (dtypes >> x.dtype & 1) == 0)
    lib::refuse(std::string(function.name) + " does not document " + lib::dtype_name(x.dtype));
}

}  // namespace

diopiError_t equal_tensors(lib::Call& call, bool* out, diopiConstTensorHandle_t input,
                           diopiConstTensorHandle_t other) {
  const lib::View left = lib::view_of(input), right = lib::view_of(other);
  if (!lib::same_shape(left, right)) {
    *out = false;
    return diopiSuccess;
  }
  if (left.dtype != right.dtype) lib::refuse("tensors of two dtypes");
  const lib::View flag = call.temporary(lib::Dtype{diopi_dtype_bool}, {1});
  lib::Plan plan(call);
  plan.call(functions::aclnnEqual,
            {lib::Argument{left}, lib::Argument{right}, lib::Argument{flag}});
  plan.run();
  *out = lib::integer(lib::read_scalar(call, flag)) != 0;
  return diopiSuccess;
}

diopiError_t nonzero(lib::Call& call, diopiTensorHandle_t* out, diopiConstTensorHandle_t input) {
  const lib::View x = lib::view_of(input);
  check_documented(functions::aclnnNonzero, 0, x);
  if (x.ndim == 0) lib::refuse("positions in a tensor without dimensions");
  if (x.numel() == 0) {
    lib::require(call, out, {0, x.ndim}, lib::Dtype{diopi_dtype_int64});
    return diopiSuccess;
  }
  const lib::View most = call.temporary(lib::Dtype{diopi_dtype_int64}, {x.numel(), x.ndim});
  store_result(call, functions::aclnnNonzero, {lib::Argument{x}, lib::Argument{most}}, most, out);
  return diopiSuccess;
}

diopiError_t masked_select(lib::Call& call, diopiTensorHandle_t* out,
                           diopiConstTensorHandle_t input, diopiConstTensorHandle_t mask) {
  const lib::View x = lib::view_of(input), chosen = lib::view_of(mask);
  check_documented(functions::aclnnMaskedSelect, 0, x);
  int64_t count = 1;
  for (int32_t d = 0; d < std::max(x.ndim, chosen.ndim); ++d) {
    const int64_t a = d < x.ndim ? x.sizes[x.ndim - 1 - d] : 1;
    const int64_t b = d < chosen.ndim ? chosen.sizes[chosen.ndim - 1 - d] : 1;
    if (a != b && a != 1 && b != 1) lib::refuse("the mask does not broadcast with the tensor");
    count *= a == 1 ? b : a;
  }
  if (count == 0) {
    lib::require(call, out, {0}, lib::Dtype{x.dtype});
    return diopiSuccess;
  }
  const lib::View most = call.temporary(lib::Dtype{x.dtype}, {count});
  store_result(call, functions::aclnnMaskedSelect,
               {lib::Argument{x}, lib::Argument{chosen}, lib::Argument{most}}, most, out);
  return diopiSuccess;
}

}  // namespace dl::ascend
