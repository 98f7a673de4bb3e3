#include "runtime/api.h"

#include <cstdio>

#include "runtime/code.h"

namespace dl::rocm {
namespace {

uint64_t dtype_bit(diopiDtype_t dtype) { return uint64_t(1) << static_cast<unsigned>(dtype); }

}  // namespace

const char* Api::message(Result result) {
  thread_local std::string words;
  words = the_driver().describe(result) + driver::remedy(result);
  if (result == driver::kNoDevice)
    words +=
        "; HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide the available ones, or the user "
        "may lack the groups of /dev/kfd and /dev/dri/renderD*";
  return words.c_str();
}

Api::Result Api::get_device(int* index) {
  int device = 0;
  const Result result = the_driver().device_current(&device);
  if (result == driver::kSuccess) *index = Devices::here().index_of(device);
  return result;
}

Api::Result Api::properties(int index, dl_device_properties_t* all) {
  const int device = Devices::here().device(index);
  kit::HipDriver& from = the_driver();
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
  const std::string processor = processor_of(from.architecture(device));
  std::snprintf(all->architecture, sizeof all->architecture, "%s", processor.c_str());
  return driver::kSuccess;
}

}  // namespace dl::rocm
