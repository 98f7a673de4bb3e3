// The driver of this process and the devices that this library supports. They belong to the
// process, like the driver's contexts, and all hosts share them.
#ifndef DL_CUDA_RUNTIME_DRIVER_H_
#define DL_CUDA_RUNTIME_DRIVER_H_

#include <map>
#include <mutex>
#include <string>

#include "dl/kit/cuda_driver.h"
#include "dl/kit/usable_devices.h"

namespace dl::cuda {

namespace driver = kit::cuda;

// libcuda.so.1, or the library that DL_CUDA_DRIVER names by an absolute path, opened on the first
// call. Throws kit::Error if the variable has another value.
kit::CudaDriver& the_driver();

// Returns true if DL_CUDA_DRIVER names a driver.
bool names_driver();

// Returns why there is no driver or GPU, with the remedy, without touching either; empty if both
// seem to be present.
std::string absence();

// The driver and this library's code, as dl/kit/usable_devices.h describes them.
struct Machine {
  using Driver = kit::CudaDriver;
  using Device = driver::Device;
  static constexpr driver::Code kNoDevice = driver::kNoDevice;
  static constexpr const char* kName = "NVIDIA's driver";
  static constexpr const char* kProbe = "nvidia-smi";
  static constexpr const char* kArchitectures = "DL_CUDA_ARCH";

  static Driver& driver() { return the_driver(); }
  static void check_version(Driver& found);
  static driver::Code init(Driver& found) { return found.init(0); }
  static bool find(Driver& found, int ordinal, Device* device);
  static bool supports(Driver& found, Device device);
  static std::string describe(Driver& found, Device device);
  static const std::string& code();
};

class Devices : public kit::UsableDevices<Machine> {
 public:
  static Devices& here();

  // The primary context of a device that exists, created on first use.
  driver::Code context(int index, driver::Context* context);

  // The host's index of the device that a context belongs to; -1 if there is none.
  int index_of_context(driver::Context context);

 private:
  std::mutex contexts_mutex_;
  std::map<int, driver::Context> contexts_;  // by the host's index
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_DRIVER_H_
