#include "runtime/api.h"

#include <cstdio>

#include "runtime/code.h"

namespace dl::rocm {

const char* Api::message(Result result) {
  return format_message(
      result, driver::remedy(result),
      result == driver::kNoDevice
          ? "; HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide the available ones, or the "
            "user may lack the groups of /dev/kfd and /dev/dri/renderD*"
          : "");
}

Api::Result Api::get_device(int* index) {
  int device = 0;
  const Result result = the_driver().device_current(&device);
  if (result == driver::kSuccess) *index = Devices::here().index_of(device);
  return result;
}

Api::Result Api::properties(int index, dl_device_properties_t* all) {
  constexpr kit::DeviceAttributes kAttributes{driver::kComputeCapabilityMajor,
                                              driver::kComputeCapabilityMinor,
                                              driver::kMultiprocessorCount, driver::kWarpSize};
  const int device = Devices::here().device(index);
  if (const Result failed = read_properties(device, kAttributes, all)) return failed;
  const std::string processor = processor_of(the_driver().architecture(device));
  std::snprintf(all->architecture, sizeof all->architecture, "%s", processor.c_str());
  return driver::kSuccess;
}

}  // namespace dl::rocm
