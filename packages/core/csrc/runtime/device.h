// Visible devices dl:0, dl:1, … and the current device of a thread.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contract/device_indices.h"
#include "runtime/vendor.h"

namespace dl::core {

// A visible device: a vendor and the vendor's own index of it.
struct Device {
  Device() = default;
  Device(const Vendor& owner, int32_t number);

  const Vendor* vendor = nullptr;
  int32_t local = 0;
  bool host_accessible = false;
  bool synchronous = false;
  bool any_host_pointer = false;
  bool reference = false;  // a CPU reference, not an accelerator
  bool sets_device = false;

  // Makes the device current in the vendor's library, if the library has a current device. The
  // table's functions do this themselves (dl/checked.hpp); operators need it before a call.
  void make_current() const {
    if (C10_UNLIKELY(sets_device)) set_in_driver();
  }
  dl_function_t function(Op op) const { return vendor->function(op); }
  dl_device_properties_t properties() const;
  // Bytes without data that the vendor needs behind each block of memory; see dl/vendor.h. 0 if the
  // properties cannot be read.
  size_t allocation_padding() const noexcept;
  std::string description() const;

 private:
  void set_in_driver() const;
};

// Loads a vendor and returns its index, which is the order of loading.
size_t load_vendor(std::string name, std::string library, bool legacy,
                   dl_adaptor_t* adaptor = nullptr);
const Vendor& vendor(size_t index);

// Sets dl:i for this process, once. Pairs are (vendor index, vendor's own device index).
void set_visible_devices(const std::vector<std::pair<size_t, int32_t>>& devices);

int device_count() noexcept;
// Throws if `index` is not a visible device.
const Device& device(int index);
// As device(), without the check.
const Device& device_unchecked(int index) noexcept;

int current_device() noexcept;
void set_current_device(int index);
void set_current_device_unchecked(int index) noexcept;
// Returns `device`, or the current device for -1.
int device_or_current(int index);

// Restores the thread's current device.
class DeviceScope {
 public:
  explicit DeviceScope(int index) : previous_(current_device()) {
    set_current_device_unchecked(index);
  }
  ~DeviceScope() { set_current_device_unchecked(previous_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_;
};

}  // namespace dl::core
