// NVRTC and the device's kernel limits, for dl/kit/kernel.h.
#include "dl/kernel.h"

#include "runtime/api.h"

namespace dl::cuda {
namespace {

// The limit of all architectures that CUDA 13 supports, with a driver for it.
constexpr uint64_t kArgumentBytes = 32764;
constexpr size_t kLogBytes = 16 << 10;

// dl-gpu-sim identifies itself by functions that no other driver has.
bool is_simulator(kit::CudaDriver& found) {
  static const bool simulated = found.has("dl_gpu_sim_launch");
  return simulated;
}

}  // namespace

kit::RuntimeCompiler<kit::Nvrtc>& Api::compiler() {
  // One per process, like its cache of compiled code.
  static kit::RuntimeCompiler<kit::Nvrtc> found;
  return found;
}

kit::Nvrtc::Target Api::code_target(int index) {
  int major = 0, minor = 0;
  const driver::Device device = Devices::here().device(index);
  kit::CudaDriver& from = the_driver();
  for (const Result result :
       {from.device_attribute(&major, driver::kComputeCapabilityMajor, device),
        from.device_attribute(&minor, driver::kComputeCapabilityMinor, device)}) {
    if (result != driver::kSuccess)
      throw kit::Error(code(result), message(result), "cuDeviceGetAttribute");
  }
  return {10 * major + minor, is_simulator(from)};
}

Api::Result Api::kernel_limits(int index, dl_kernel_properties_t* all) {
  constexpr kit::KernelAttributes kAttributes{driver::kMaxGridX, driver::kMaxBlockX,
                                              driver::kMaxBlockThreads, driver::kWarpSize,
                                              driver::kMaxSharedBytes};
  const driver::Device device = Devices::here().device(index);
  if (const Result failed = read_limits(device, kAttributes, all)) return failed;
  all->max_argument_bytes = kArgumentBytes;
  int major = 0, minor = 0;
  kit::CudaDriver& from = the_driver();
  if (const Result failed = from.device_attribute(&major, driver::kComputeCapabilityMajor, device))
    return failed;
  if (const Result failed = from.device_attribute(&minor, driver::kComputeCapabilityMinor, device))
    return failed;
  std::snprintf(all->architecture, sizeof all->architecture, "sm_%d%d", major, minor);
  return driver::kSuccess;
}

Api::Result Api::image_load(Image* image, const void* code, std::string* log) {
  log->assign(kLogBytes, '\0');
  int options[] = {driver::kJitErrorLog, driver::kJitErrorLogBytes};
  // The driver expects small values in place of pointers.
  void* values[] = {log->data(), reinterpret_cast<void*>(kLogBytes)};
  const Result result = the_driver().image_load(image, code, 2, options, values);
  log->resize(log->find('\0') == std::string::npos ? kLogBytes : log->find('\0'));
  return result;
}

bool Api::parameter_sizes(Kernel kernel, std::vector<size_t>* sizes) {
  if (!the_driver().function_parameter.available()) return false;
  size_t offset = 0, size = 0;
  sizes->clear();
  while (the_driver().function_parameter(kernel, sizes->size(), &offset, &size) == driver::kSuccess)
    sizes->push_back(size);
  return true;
}

}  // namespace dl::cuda
