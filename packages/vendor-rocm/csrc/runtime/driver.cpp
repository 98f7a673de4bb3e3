#include "runtime/driver.h"

#include <unistd.h>

#include "dl/kit/named_driver.h"
#include "dl/kit/presence.h"
#include "runtime/code.h"

namespace dl::rocm {
namespace {

const std::vector<std::string> kLibraries = {"libamdhip64.so.7", "libamdhip64.so.6",
                                             "libamdhip64.so.5"};
// Device files of the kernel drivers: amdgpu's file, and the file of the Windows Subsystem for
// Linux.
const std::vector<std::string> kDeviceFiles = {"/dev/kfd", "/dev/dxg"};

const kit::NamedDriver& named_driver() {
  static const kit::NamedDriver named("DL_ROCM_DRIVER");
  return named;
}

const DeviceCode& device_code() {
  static const DeviceCode built(DL_ROCM_CODE);
  return built;
}

[[noreturn]] void refuse(const std::string& reason) { throw kit::Error(DL_UNAVAILABLE, reason); }

}  // namespace

kit::HipDriver& the_driver() {
  static kit::HipDriver found(named_driver().or_else(kLibraries));
  return found;
}

bool names_driver() { return named_driver().is_given(); }

std::string absence() {
  // If the user named a driver, a failure must not be silent: counting its devices reports it.
  if (named_driver().is_given()) return {};
  if (device_code().is_emulated())
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

// AMD guarantees compatibility with drivers of the compiler's ROCm release or later ones.
void Machine::check_version(Driver& found) {
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

driver::Code Machine::init(Driver& found) {
  const driver::Code failed = found.init(0);
  // ROCm 5 reports kInvalidDevice if there is no GPU.
  return failed == driver::kInvalidDevice ? driver::kNoDevice : failed;
}

bool Machine::find(Driver&, int ordinal, int* device) {
  *device = ordinal;
  return true;
}

bool Machine::supports(Driver& found, int device) {
  return device_code().runs_on(processor_of(found.architecture(device)));
}

std::string Machine::describe(Driver& found, int device) {
  char name[128] = "a GPU";
  (void)found.device_name(name, sizeof name, device);
  const std::string processor = processor_of(found.architecture(device));
  return std::string(name) + " (" + (processor.empty() ? "of unknown architecture" : processor) +
         ")";
}

const std::string& Machine::code() { return device_code().list(); }

}  // namespace dl::rocm
