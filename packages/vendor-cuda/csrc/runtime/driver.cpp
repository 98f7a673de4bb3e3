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

const DeviceCode& device_code() {
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

struct Capability {
  int major = 0, minor = 0;
};
Capability capability_of(kit::CudaDriver& found, driver::Device device) {
  Capability capability;
  (void)found.device_attribute(&capability.major, driver::kComputeCapabilityMajor, device);
  (void)found.device_attribute(&capability.minor, driver::kComputeCapabilityMinor, device);
  return capability;
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

void Machine::check_version(Driver& found) {
  int version = 0;
  const int needed = device_code().needed_version(DL_CUDA_COMPILER);
  if (found.driver_version(&version) == driver::kSuccess && version < needed)
    refuse("the installed NVIDIA driver supports CUDA " + version_text(version) +
           ", but this library needs one for CUDA " + version_text(needed) +
           " or later (nvidia-smi shows the driver's version): install a later driver");
  if (const char* function = found.missing())
    refuse(found.opened() + " has no function " + function +
           ": it is not an NVIDIA driver for CUDA " + version_text(needed) +
           " or later; install a later driver");
}

bool Machine::find(Driver& found, int ordinal, Device* device) {
  return found.device_get(device, ordinal) == driver::kSuccess;
}

bool Machine::supports(Driver& found, Device device) {
  const Capability capability = capability_of(found, device);
  return device_code().runs_on(number_of(capability.major, capability.minor));
}

std::string Machine::describe(Driver& found, Device device) {
  char name[128] = "a GPU";
  (void)found.device_name(name, sizeof name, device);
  const Capability capability = capability_of(found, device);
  return std::string(name) + " (compute capability " + std::to_string(capability.major) + "." +
         std::to_string(capability.minor) + ")";
}

const std::string& Machine::code() { return device_code().list(); }

driver::Code Devices::context(int index, driver::Context* context) {
  const driver::Device own = device(index);
  const std::lock_guard<std::mutex> lock(contexts_mutex_);
  driver::Context& known = contexts_[index];
  if (known == nullptr) {
    if (const driver::Code failed = the_driver().primary_context_retain(&known, own)) return failed;
  }
  *context = known;
  return driver::kSuccess;
}

int Devices::index_of_context(driver::Context context) {
  const std::lock_guard<std::mutex> lock(contexts_mutex_);
  for (const auto& [index, known] : contexts_) {
    if (context != nullptr && known == context) return index;
  }
  return -1;
}

}  // namespace dl::cuda
