// Random permutations: the only random operator whose out= form has no functional form with the
// same arguments.
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/resize_output.h"

namespace dl::core::composed {
namespace {

Site randperm_site{"randperm.generator_out", {"randperm.generator_out"}, {Op::diopiRandperm}};

// Returns true if the dtype represents every index below n.
bool holds_indices(at::ScalarType type, int64_t n) {
  switch (type) {
    case at::kLong:
    case at::kDouble:
      return true;
    case at::kInt:
      return n <= int64_t{1} << 31;
    case at::kFloat:
      return n <= int64_t{1} << 24;
    case at::kShort:
      return n <= int64_t{1} << 15;
    case at::kHalf:
      return n <= int64_t{1} << 11;
    case at::kBFloat16:
    case at::kByte:
      return n <= int64_t{1} << 8;
    case at::kChar:
      return n <= int64_t{1} << 7;
    default:
      return false;
  }
}

bool run_native(int64_t n, const OptionalGenerator& generator, at::Tensor& out) {
  const int index = ::dl::core::device_of(out);
  if (index < 0 || randperm_site.disabled.load(std::memory_order_relaxed)) return false;
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiRandperm);
  if (function == nullptr || n < 0 || !holds_indices(out.scalar_type(), n)) return false;
  OutputPlan plan;
  plan.start(out);
  plan.output({n}, out.scalar_type());
  if (!plan.make_outputs({&out})) return false;
  NativeCall call(randperm_site, index);
  OutputHandle handle(out);
  GeneratorHandle generator_handle(generator, index);
  return call.run("diopiRandperm", function, handle.get(), n, generator_handle.get());
}

at::Tensor& randperm_out(int64_t n, OptionalGenerator generator, at::Tensor& out) {
  // No samples are drawn here, and therefore torch accepts any generator.
  if (n == 0 && holds_indices(out.scalar_type(), n)) {
    at::native::resize_output(out, {0});
    return out;
  }
  if (run_native(n, generator, out)) return out;
  return on_cpu<"randperm.generator_out", at::Tensor&(int64_t, OptionalGenerator, at::Tensor&)>(
      n, generator, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("randperm.generator_out", randperm_out);
}

}  // namespace dl::core::composed
