// NVRTC, and what a card can do with kernels, as dl/kit/kernel.h wants them.
#include "dl/kernel.h"

#include "runtime/api.h"

namespace dl::cuda {
namespace {

// Of all architectures that CUDA 13 knows, with a driver for it.
constexpr uint64_t kArgumentBytes = 32764;
constexpr size_t kLogBytes = 16 << 10;

// dl-gpu-sim says what it is by functions that no driver has.
bool is_simulator(kit::CudaDriver& found) {
  static const bool simulated = found.has("dl_gpu_sim_launch");
  return simulated;
}

}  // namespace

kit::RuntimeCompiler<kit::Nvrtc>& Api::compiler() {
  // Of the process, as what it has compiled is.
  static kit::RuntimeCompiler<kit::Nvrtc> found;
  return found;
}

kit::Nvrtc::Target Api::code_target(int card) {
  int major = 0, minor = 0;
  const driver::Device device = Cards::here().device(card);
  kit::CudaDriver& from = the_driver();
  for (const Result result :
       {from.device_attribute(&major, driver::kComputeCapabilityMajor, device),
        from.device_attribute(&minor, driver::kComputeCapabilityMinor, device)}) {
    if (result != driver::kSuccess)
      throw kit::Error(code(result), message(result), "cuDeviceGetAttribute");
  }
  return {10 * major + minor, is_simulator(from)};
}

Api::Result Api::kernel_limits(int card, dl_kernel_properties_t* all) {
  const driver::Device device = Cards::here().device(card);
  Result failed = driver::kSuccess;
  const auto read = [&](driver::Attribute attribute) {
    int value = 0;
    const Result result = the_driver().device_attribute(&value, attribute, device);
    if (result != driver::kSuccess) failed = result;
    return static_cast<uint32_t>(value);
  };
  for (int d = 0; d < 3; ++d) {
    all->max_grid[d] = read(driver::kMaxGridX + d);
    all->max_block[d] = read(driver::kMaxBlockX + d);
  }
  all->max_block_threads = read(driver::kMaxBlockThreads);
  all->warp_size = read(driver::kWarpSize);
  all->max_shared_bytes = read(driver::kMaxSharedBytes);
  all->max_argument_bytes = kArgumentBytes;
  const uint32_t major = read(driver::kComputeCapabilityMajor);
  const uint32_t minor = read(driver::kComputeCapabilityMinor);
  std::snprintf(all->architecture, sizeof all->architecture, "sm_%u%u", major, minor);
  return failed;
}

Api::Result Api::image_load(Image* image, const void* code, std::string* log) {
  log->assign(kLogBytes, '\0');
  int options[] = {driver::kJitErrorLog, driver::kJitErrorLogBytes};
  // The driver takes small values in the place of pointers.
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
