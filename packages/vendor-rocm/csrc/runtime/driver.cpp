#include "runtime/driver.h"

#include <unistd.h>

#include "dl/kit/named_driver.h"
#include "dl/kit/presence.h"
#include "runtime/code.h"

namespace dl::rocm {
namespace {

const std::vector<std::string> kLibraries = {"libamdhip64.so.7", "libamdhip64.so.6",
                                             "libamdhip64.so.5"};
// Device files of the kernel drivers: amdgpu's, and that of the Windows Subsystem for Linux.
const std::vector<std::string> kDeviceFiles = {"/dev/kfd", "/dev/dxg"};

const kit::NamedDriver& named_driver() {
  static const kit::NamedDriver named("DL_ROCM_DRIVER");
  return named;
}

const DeviceCode& code() {
  static const DeviceCode built(DL_ROCM_CODE);
  return built;
}

[[noreturn]] void refuse(const std::string& reason) { throw kit::Error(DL_UNAVAILABLE, reason); }

// Throws unless the driver supports the code of this library's compiler. AMD guarantees this for
// drivers of the compiler's ROCm release or later ones.
void check_version(kit::HipDriver& found) {
  int version = 0;
  if (const char* function = found.missing())
    refuse(found.opened() + " has no function " + function +
           ": it is not a HIP runtime of ROCm 5 or later; install a later ROCm");
  if (found.driver_version(&version) == driver::kSuccess &&
      major_of(version) < major_of(DL_ROCM_COMPILER))
    refuse("the installed HIP runtime (" + found.opened() + ") is that of ROCm " +
           version_text(version) + ", but this library was built for ROCm " +
           version_text(DL_ROCM_COMPILER) + ": install a later ROCm, or build with an earlier one");
}

}  // namespace

kit::HipDriver& the_driver() {
  static kit::HipDriver found(named_driver().or_else(kLibraries));
  return found;
}

bool names_driver() { return named_driver().is_given(); }

std::string absence() {
  // If the user named a driver, a failure must not be silent: counting its devices reports it.
  if (named_driver().is_given()) return {};
  if (code().is_emulated())
    return "the kernels of this build run only on simulated devices: set DL_ROCM_DRIVER to the "
           "library of such devices";
  std::string reason;
  if (!kit::any_path(kDeviceFiles)) {
    reason = "there is no AMD GPU, or its kernel driver amdgpu is not loaded: " + kDeviceFiles[0] +
             " does not exist (containers need --device=/dev/kfd --device=/dev/dri)";
  } else if (kit::any_path({kDeviceFiles[0]}) &&
             access(kDeviceFiles[0].c_str(), R_OK | W_OK) != 0) {
    reason = "this user may not open " + kDeviceFiles[0] +
             ": add the user to the groups that own it and /dev/dri/renderD*, often render and "
             "video";
  }
  if (kit::find_library(kLibraries).empty())
    reason += std::string(reason.empty() ? "" : "; and ") + "AMD's HIP runtime, " + kLibraries[0] +
              ", .6 or .5, is not installed: install ROCm, or add its lib folder to "
              "LD_LIBRARY_PATH";
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
  kit::HipDriver& found = the_driver();
  check_version(found);
  driver::Code failed = found.init(0);
  // ROCm 5 reports this error if there is no GPU.
  if (failed == driver::kInvalidDevice) failed = driver::kNoDevice;
  int count = 0;
  if (failed == driver::kSuccess) failed = found.device_count(&count);
  if (failed == driver::kNoDevice) return failed;
  if (failed != driver::kSuccess)
    refuse("AMD's HIP runtime does not initialize: " + found.describe(failed) +
           "; rocminfo must work first (after an update of the driver: start the machine "
           "again)");
  find_usable(count);
  return devices_.empty() ? driver::kNoDevice : driver::kSuccess;
}

// Throws if there are GPUs but none is usable.
void Devices::find_usable(int found) {
  devices_.clear();
  std::string others;
  for (int i = 0; i < found; ++i) {
    char name[128] = "a GPU";
    const std::string processor = processor_of(the_driver().architecture(i));
    if (code().runs_on(processor)) {
      devices_.push_back(i);
    } else {
      (void)the_driver().device_name(name, sizeof name, i);
      others += (others.empty() ? "" : ", ") + std::string(name) + " (" +
                (processor.empty() ? "of unknown architecture" : processor) + ")";
    }
  }
  if (devices_.empty() && !others.empty())
    refuse("this library has device code for " + code().list() + ", but none for " + others +
           ": install a build for it (DL_ROCM_ARCH)");
}

int Devices::device(int index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_[static_cast<size_t>(index)];
}

int Devices::index_of(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i] == device) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace dl::rocm
