// Ranges for a vendor's profiling tool, as emit_nvtx() marks them for NVIDIA's. The contract has no
// ranges, and torch's own error message would be about its build.
#include <torch/csrc/profiler/standalone/privateuse1_observer.h>

#include <unordered_set>

namespace dl::core::profiler {
namespace {

void refuse_marks(const torch::profiler::impl::ProfilerConfig&,
                  const std::unordered_set<at::RecordScope>&) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "[dl] ProfilerState.PRIVATEUSE1 marks ranges for the tool of a ",
      "vendor, and the vendor interface has no ranges; use torch.profiler, ",
      "which shows the device by itself");
}

const torch::profiler::impl::RegisterPRIVATEUSE1Observer refusal(&refuse_marks);

}  // namespace
}  // namespace dl::core::profiler
