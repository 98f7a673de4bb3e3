#include "runtime/api.h"

#include <cstdio>

namespace dl::cuda {
namespace {

uint64_t dtype_bit(diopiDtype_t dtype) { return uint64_t(1) << static_cast<unsigned>(dtype); }

}  // namespace

const char* Api::message(Result result) {
  thread_local std::string words;
  words = the_driver().describe(result) + driver::remedy(result);
  if (result == driver::kNoDevice) words += "; CUDA_VISIBLE_DEVICES may hide the available ones";
  return words.c_str();
}

Api::Result Api::get_device(int* index) {
  driver::Context context = nullptr;
  const Result result = the_driver().context_current(&context);
  if (result == driver::kSuccess) *index = Devices::here().index_of(context);
  return result;
}

Api::Result Api::set_device(int index) {
  driver::Context context = nullptr;
  if (const Result failed = Devices::here().context(index, &context)) return failed;
  return the_driver().context_set(context);
}

Api::Result Api::properties(int index, dl_device_properties_t* all) {
  const driver::Device device = Devices::here().device(index);
  kit::CudaDriver& from = the_driver();
  size_t total = 0;
  if (const Result failed = from.device_name(all->name, sizeof all->name, device)) return failed;
  if (const Result failed = from.device_total_memory(&total, device)) return failed;
  all->total_memory = total;
  const struct {
    driver::Attribute attribute;
    int32_t* to;
  } kAttributes[] = {{driver::kComputeCapabilityMajor, &all->major},
                     {driver::kComputeCapabilityMinor, &all->minor},
                     {driver::kMultiprocessorCount, &all->multiprocessor_count},
                     {driver::kWarpSize, &all->warp_size}};
  for (const auto& one : kAttributes) {
    if (const Result failed = from.device_attribute(one.to, one.attribute, device)) return failed;
  }
  for (const diopiDtype_t dtype :
       {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
        diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
        diopi_dtype_float32, diopi_dtype_float64}) {
    all->dtype_mask |= dtype_bit(dtype);
  }
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
