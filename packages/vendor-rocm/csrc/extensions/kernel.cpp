// hipRTC and the device's kernel limits, for dl/kit/kernel.h.
#include "dl/kernel.h"

#include <cstdio>

#include "runtime/api.h"
#include "runtime/code.h"

namespace dl::rocm {
namespace {

// The limit of all HIP releases.
constexpr uint64_t kArgumentBytes = 4096;

std::string processor(int index) {
  return processor_of(the_driver().architecture(Devices::here().device(index)));
}

}  // namespace

kit::RuntimeCompiler<kit::Hiprtc>& Api::compiler() {
  // One per process, like its cache of compiled code.
  static kit::RuntimeCompiler<kit::Hiprtc> found;
  return found;
}

kit::Hiprtc::Target Api::code_target(int index) {
  std::string found = processor(index);
  if (found.empty())
    throw kit::Error(DL_ERROR, "the driver does not report the GPU's architecture",
                     "hipGetDeviceProperties");
  return {std::move(found)};
}

Api::Result Api::kernel_limits(int index, dl_kernel_properties_t* all) {
  constexpr kit::KernelAttributes kAttributes{driver::kMaxGridX, driver::kMaxBlockX,
                                              driver::kMaxBlockThreads, driver::kWarpSize,
                                              driver::kMaxSharedBytes};
  if (const Result failed = read_limits(Devices::here().device(index), kAttributes, all))
    return failed;
  all->max_argument_bytes = kArgumentBytes;
  std::snprintf(all->architecture, sizeof all->architecture, "%s", processor(index).c_str());
  return driver::kSuccess;
}

}  // namespace dl::rocm
