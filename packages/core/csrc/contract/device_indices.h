// Device type of dl devices, and the vendor's own index of each device.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace dl::core {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;
inline constexpr int kMaxDevices = 64;

// Written once, when the visible devices are selected; read for every tensor passed to a vendor.
inline int32_t local_indices[kMaxDevices] = {};

inline int32_t local_index(int index) noexcept { return local_indices[index]; }

}  // namespace dl::core
