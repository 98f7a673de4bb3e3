// The type of dl devices, and the number by which its vendor knows each of them.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace dl::core {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;
inline constexpr int kMaxDevices = 64;

// Written once, when the visible devices are chosen; read for every tensor that a vendor sees.
inline int32_t local_numbers[kMaxDevices] = {};

inline int32_t local_number(int index) noexcept { return local_numbers[index]; }

}  // namespace dl::core
