// Device on which a session runs, and its memory.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include "dl/contract_graph.h"

namespace dl::graph {

class Device {
 public:
  // Throws Failure if the target lacks a field or function that a run needs.
  explicit Device(const dl_contract_target_t& target);

  // The padding is added to `bytes`.
  void* allocate(uint64_t bytes) const;
  void free(void* memory) const;
  void copy(void* to, const void* from, uint64_t bytes, dl_copy_kind_t kind) const;
  void fill(void* memory, int value, uint64_t bytes) const;
  void synchronize() const;
  // Called before every operator, because other code may have selected another device.
  void make_current() const {
    if (set_ != nullptr) make_current_slow();
  }
  bool can(uint64_t capability) const { return (table_->capabilities & capability) != 0; }
  // Bytes without data that the device needs behind each block of memory.
  uint64_t padding() const { return padding_; }
  std::string last_error() const;
  // Returns the vendor's function. Throws Failure if it has none with this signature.
  dl_function_t function(const char* name, uint64_t fingerprint) const;

  const dl_contract_target_t& target() const { return target_; }

 private:
  void make_current_slow() const;

  dl_contract_target_t target_;
  std::unordered_map<std::string, dl_operator_t> operators_;  // the caller owns the names in them
  const dl_vendor_table_t* table_;
  dl_status_t* (*set_)(dl_vendor_t*, int32_t) = nullptr;
  uint64_t padding_ = 0;
};

// Block of device memory. For 0 bytes the address is NULL.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Device& device, uint64_t bytes)
      : device_(&device), data_(bytes == 0 ? nullptr : device.allocate(bytes)), bytes_(bytes) {}
  ~DeviceMemory() {
    if (data_ != nullptr) device_->free(data_);
  }
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  char* data() const { return static_cast<char*>(data_); }
  uint64_t bytes() const { return bytes_; }

 private:
  void swap(DeviceMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  const Device* device_ = nullptr;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace dl::graph
