#include "runtime/driver.h"

#include "dl/kit/named_driver.h"
#include "dl/kit/presence.h"
#include "runtime/code.h"

namespace dl::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

// Device files of the kernel drivers: on PCs and servers, in the Windows Subsystem for Linux, on a
// Jetson.
const std::vector<std::string> kDeviceFiles = {"/dev/nvidiactl", "/dev/dxg",
                                               "/dev/nvhost-ctrl-gpu"};

const DeviceCode& code() {
  static const DeviceCode built(DL_CUDA_CODE);
  return built;
}

const kit::NamedDriver& named_driver() {
  static const kit::NamedDriver named("DL_CUDA_DRIVER");
  return named;
}

// Formats 12040 as "12.4".
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

[[noreturn]] void refuse(const std::string& reason) { throw kit::Error(DL_UNAVAILABLE, reason); }

// Throws unless the driver supports the code of this library's compiler.
void check_version(kit::CudaDriver& found) {
  int version = 0;
  const int needed = code().needed_version(DL_CUDA_COMPILER);
  if (found.driver_version(&version) == driver::kSuccess && version < needed)
    refuse("the installed NVIDIA driver supports CUDA " + version_text(version) +
           ", but this library needs one for CUDA " + version_text(needed) +
           " or later (nvidia-smi shows the driver's version): install a later driver");
  if (const char* function = found.missing())
    refuse(found.opened() + " has no function " + function +
           ": it is not an NVIDIA driver for CUDA " + version_text(needed) +
           " or later; install a later driver");
}

std::string describe_device(int major, int minor, const char* name) {
  return std::string(name) + " (compute capability " + std::to_string(major) + "." +
         std::to_string(minor) + ")";
}

}  // namespace

kit::CudaDriver& the_driver() {
  static kit::CudaDriver found(named_driver().or_else({kLibrary}));
  return found;
}

bool names_driver() { return named_driver().is_given(); }

std::string absence() {
  // If the user named a driver, a failure must not be silent: counting its devices reports it.
  if (named_driver().is_given()) return {};
  std::string reason;
  if (!kit::any_path(kDeviceFiles))
    reason = "there is no NVIDIA GPU, or its kernel driver is not loaded: " + kDeviceFiles[0] +
             " does not exist (containers need --gpus all)";
  if (kit::find_library({kLibrary}).empty())
    reason += std::string(reason.empty() ? "" : "; and ") + "NVIDIA's driver library " + kLibrary +
              " is not installed: install NVIDIA's driver (containers get it from the NVIDIA "
              "Container Toolkit)";
  return reason;
}

Devices& Devices::here() {
  static Devices devices;
  return devices;
}

driver::Code Devices::count(int* count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!started_) {
    if (const driver::Code failed = start()) return failed;
    started_ = true;
  }
  *count = static_cast<int>(devices_.size());
  return driver::kSuccess;
}

driver::Code Devices::start() {
  kit::CudaDriver& found = the_driver();
  check_version(found);
  driver::Code failed = found.init(0);
  int count = 0;
  if (failed == driver::kSuccess) failed = found.device_count(&count);
  if (failed == driver::kNoDevice) return failed;
  if (failed != driver::kSuccess)
    refuse("NVIDIA's driver does not initialize: " + found.describe(failed) +
           "; nvidia-smi must work first (after an update of the driver: start the machine "
           "again)");
  find_usable(count);
  return devices_.empty() ? driver::kNoDevice : driver::kSuccess;
}

// Throws if there are GPUs but none is usable.
void Devices::find_usable(int found) {
  devices_.clear();
  std::string too_old;
  for (int i = 0; i < found; ++i) {
    driver::Device device = 0;
    int major = 0, minor = 0;
    char name[128] = "a GPU";
    kit::CudaDriver& all = the_driver();
    if (all.device_get(&device, i) != driver::kSuccess) continue;
    (void)all.device_attribute(&major, driver::kComputeCapabilityMajor, device);
    (void)all.device_attribute(&minor, driver::kComputeCapabilityMinor, device);
    (void)all.device_name(name, sizeof name, device);
    if (code().runs_on(number_of(major, minor))) {
      devices_.push_back({device});
    } else {
      too_old += (too_old.empty() ? "" : ", ") + describe_device(major, minor, name);
    }
  }
  if (devices_.empty() && !too_old.empty())
    refuse("this library has device code for " + code().list() + ", but none for " + too_old +
           ": install a build for it (DL_CUDA_ARCH)");
}

driver::Device Devices::device(int index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_[static_cast<size_t>(index)].device;
}

driver::Code Devices::context(int index, driver::Context* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& one = devices_[static_cast<size_t>(index)];
  if (one.context == nullptr) {
    if (const driver::Code failed = the_driver().primary_context_retain(&one.context, one.device))
      return failed;
  }
  *context = one.context;
  return driver::kSuccess;
}

int Devices::index_of(driver::Context context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; context != nullptr && i < devices_.size(); ++i) {
    if (devices_[i].context == context) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace dl::cuda
