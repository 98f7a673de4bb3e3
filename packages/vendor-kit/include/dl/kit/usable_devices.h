// The devices of a driver that a library has code for, numbered as hosts see them. They belong to
// the process, and all hosts share them. `Machine` describes the driver and the code:
//
//   using Driver = CudaDriver;  using Device = Driver::Device;
//   static Driver& driver();
//   static void check_version(Driver&)               throws Error if the driver is too old
//   static Driver::Code init(Driver&)
//   static bool find(Driver&, int ordinal, Device*)  false: skip the device
//   static bool supports(Driver&, Device)            the library has code for it
//   static std::string describe(Driver&, Device)     for messages: "NVIDIA H200 (…)"
//   static const std::string& code()                 the architectures in the library
//   static constexpr Driver::Code kNoDevice
//   static constexpr const char* kName               "NVIDIA's driver"
//   static constexpr const char* kProbe              a tool that tests the driver: "nvidia-smi"
//   static constexpr const char* kArchitectures      the build variable: "DL_CUDA_ARCH"
#ifndef DL_KIT_USABLE_DEVICES_H_
#define DL_KIT_USABLE_DEVICES_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

template <class Machine>
class UsableDevices {
 public:
  using Driver = typename Machine::Driver;
  using Code = typename Driver::Code;
  using Device = typename Machine::Device;

  // Initializes the driver if necessary and counts the usable devices. Throws Error with
  // DL_UNAVAILABLE if the driver is unusable, or if the library has code for none of its devices.
  Code count(int* count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) {
      if (const Code failed = start()) return failed;
      started_ = true;
    }
    *count = static_cast<int>(devices_.size());
    return kSuccess;
  }

  // The driver's number of a device that exists, given by the host's index.
  Device device(int index) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return devices_[static_cast<size_t>(index)];
  }

  // The host's index of a device; -1 if the device is not usable.
  int index_of(Device device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i] == device) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  static constexpr Code kSuccess = 0;

  [[noreturn]] static void refuse(const std::string& reason) {
    throw Error(DL_UNAVAILABLE, reason);
  }

  Code start() {
    Driver& driver = Machine::driver();
    Machine::check_version(driver);
    Code failed = Machine::init(driver);
    int count = 0;
    if (failed == kSuccess) failed = driver.device_count(&count);
    if (failed == Machine::kNoDevice) return failed;
    if (failed != kSuccess)
      refuse(std::string(Machine::kName) + " does not initialize: " + driver.describe(failed) +
             "; " + Machine::kProbe +
             " must work first (after an update of the driver: restart the machine)");
    find_usable(driver, count);
    return devices_.empty() ? Machine::kNoDevice : kSuccess;
  }

  // Throws if there are devices but none is usable.
  void find_usable(Driver& driver, int count) {
    devices_.clear();
    std::string others;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      Device device{};
      if (!Machine::find(driver, ordinal, &device)) continue;
      if (Machine::supports(driver, device)) {
        devices_.push_back(device);
      } else {
        others += (others.empty() ? "" : ", ") + Machine::describe(driver, device);
      }
    }
    if (devices_.empty() && !others.empty())
      refuse("this library has device code for " + Machine::code() + ", but none for " + others +
             ": install a build for it (" + Machine::kArchitectures + ")");
  }

  std::mutex mutex_;
  bool started_ = false;
  std::vector<Device> devices_;
};

DL_KIT_END

#endif  // DL_KIT_USABLE_DEVICES_H_
