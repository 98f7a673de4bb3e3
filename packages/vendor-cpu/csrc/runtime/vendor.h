// The vendor class: its methods are the slots of the table (dl/kit/table.h).
#ifndef DL_CPU_RUNTIME_VENDOR_H_
#define DL_CPU_RUNTIME_VENDOR_H_

#include <cstdint>
#include <string>

#include "dl/kit/table.h"
#include "extensions/extensions.h"

namespace dl::cpu {

class Vendor : public kit::Instance {
 public:
  static constexpr const char* kName = "cpu";
  static constexpr const char* kVersion = DL_CPU_VERSION;
  static constexpr uint64_t kCapabilities =
      DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER | DL_CAP_REFERENCE;
  static constexpr const char* kDevicesFrom = "DL_CPU_DEVICES";
  static dl_extension_t* extensions();

  explicit Vendor(const dl_host_t* host);

  // device.cpp
  bool present() { return true; }
  int32_t device_count() const { return device_count_; }
  dl_device_properties_t device_properties(int32_t device);
  void device_synchronize(int32_t) {}

  // memory.cpp
  void* memory_allocate(int32_t device, uint64_t bytes);
  void memory_free(int32_t device, void* memory);
  kit::MemoryInfo memory_info(int32_t device);
  void* host_allocate(uint64_t bytes);
  void host_free(void* memory);
  void memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream);
  void memory_set(int32_t device, void* memory, int32_t value, uint64_t bytes, void* stream);

  // order.cpp
  void* stream_create(int32_t device, int32_t priority);
  void stream_destroy(int32_t device, void* stream);
  void stream_synchronize(int32_t, void*) {}
  bool stream_query(int32_t, void*) { return true; }
  void stream_wait_event(int32_t, void*, void*) {}
  void* event_create(int32_t device, uint64_t flags);
  void event_destroy(int32_t device, void* event);
  void event_record(int32_t device, void* event, void* stream);
  void event_synchronize(int32_t, void*) {}
  bool event_query(int32_t, void*) { return true; }
  double event_elapsed(int32_t device, void* start, void* end);

  kit::Operators operators();

  // extensions/choices.cpp
  std::string choice_identity(int32_t device);

 private:
  const int32_t device_count_;
};

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_VENDOR_H_
