#include "runtime/api.h"

#include <cstdio>

namespace dl::cuda {

const char* Api::message(Result result) {
  return format_message(
      result, driver::remedy(result),
      result == driver::kNoDevice ? "; CUDA_VISIBLE_DEVICES may hide the available ones" : "");
}

Api::Result Api::get_device(int* index) {
  driver::Context context = nullptr;
  const Result result = the_driver().context_current(&context);
  if (result == driver::kSuccess) *index = Devices::here().index_of_context(context);
  return result;
}

Api::Result Api::set_device(int index) {
  driver::Context context = nullptr;
  if (const Result failed = Devices::here().context(index, &context)) return failed;
  return the_driver().context_set(context);
}

Api::Result Api::properties(int index, dl_device_properties_t* all) {
  constexpr kit::DeviceAttributes kAttributes{driver::kComputeCapabilityMajor,
                                              driver::kComputeCapabilityMinor,
                                              driver::kMultiprocessorCount, driver::kWarpSize};
  const driver::Device device = Devices::here().device(index);
  if (const Result failed = read_properties(device, kAttributes, all)) return failed;
  std::snprintf(all->architecture, sizeof all->architecture, "sm_%d%d", all->major, all->minor);
  return driver::kSuccess;
}

Api::Result Api::malloc(void** memory, size_t bytes) {
  driver::Address address = 0;
  const Result result = the_driver().memory_allocate(&address, bytes);
  *memory = reinterpret_cast<void*>(address);
  return result;
}

Api::Result Api::malloc_host(void** memory, size_t bytes) {
  constexpr unsigned kPortable = 1;  // page-locked for all devices
  // The slot has no device argument, and the thread may not have a current device yet.
  int index = -1;
  if (const Result failed = get_device(&index)) return failed;
  if (index < 0) {
    if (const Result failed = set_device(0)) return failed;
  }
  return the_driver().host_allocate(memory, bytes, kPortable);
}

Api::Result Api::copy(void* to, const void* from, size_t bytes, int kind, Stream stream) {
  kit::CudaDriver& by = the_driver();
  switch (kind) {
    case 1:
      return by.copy_to_device(driver::address_of(to), from, bytes, stream);
    case 2:
      return by.copy_to_host(to, driver::address_of(from), bytes, stream);
    default:
      return by.copy_on_device(driver::address_of(to), driver::address_of(from), bytes, stream);
  }
}

}  // namespace dl::cuda
