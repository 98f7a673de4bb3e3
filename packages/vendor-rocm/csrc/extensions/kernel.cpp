// hipRTC, and what a card can do with kernels, as dl/kit/kernel.h wants them.
#include "dl/kernel.h"

#include <cstdio>

#include "runtime/api.h"
#include "runtime/code.h"

namespace dl::rocm {
namespace {

// What every release of HIP passes to a kernel.
constexpr uint64_t kArgumentBytes = 4096;

std::string processor(int card) {
  return processor_of(the_driver().architecture(Cards::here().device(card)));
}

}  // namespace

kit::RuntimeCompiler<kit::Hiprtc>& Api::compiler() {
  // Of the process, as what it has compiled is.
  static kit::RuntimeCompiler<kit::Hiprtc> found;
  return found;
}

kit::Hiprtc::Target Api::code_target(int card) {
  std::string found = processor(card);
  if (found.empty())
    throw kit::Error(DL_ERROR, "the driver does not tell the processor of the card",
                     "hipGetDeviceProperties");
  return {std::move(found)};
}

Api::Result Api::kernel_limits(int card, dl_kernel_properties_t* all) {
  constexpr kit::KernelAttributes kAttributes{driver::kMaxGridX, driver::kMaxBlockX,
                                              driver::kMaxBlockThreads, driver::kWarpSize,
                                              driver::kMaxSharedBytes};
  if (const Result failed = read_limits(Cards::here().device(card), kAttributes, all))
    return failed;
  all->max_argument_bytes = kArgumentBytes;
  std::snprintf(all->architecture, sizeof all->architecture, "%s", processor(card).c_str());
  return driver::kSuccess;
}

}  // namespace dl::rocm
