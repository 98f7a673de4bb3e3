// Programs of a device: built from SPIR-V, OpenCL C or a driver's own binary.
#ifndef DL_OPENCL_PROGRAM_BUILD_H_
#define DL_OPENCL_PROGRAM_BUILD_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"

namespace dl::opencl {

// Owner of OpenCL's program object.
class ProgramReference {
 public:
  ProgramReference() = default;
  ProgramReference(const Driver& driver, cl::Program object) : driver_(&driver), object_(object) {}
  ProgramReference(ProgramReference&& other) noexcept
      : driver_(other.driver_), object_(std::exchange(other.object_, nullptr)) {}
  ProgramReference& operator=(ProgramReference&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~ProgramReference() {
    if (object_ != nullptr) (void)driver_->ReleaseProgram(object_);
  }

  cl::Program object() const { return object_; }

 private:
  const Driver* driver_ = nullptr;
  cl::Program object_ = nullptr;
};

using Headers = std::vector<std::pair<std::string, std::string>>;  // names and texts

// Each throws kit::Error; a failed build has the driver's log as details.
ProgramReference build_spirv(Device& device, const std::vector<uint32_t>& words);
// DL_INVALID_ARGUMENT if the source does not compile.
ProgramReference build_source(Device& device, const std::string& name, const std::string& text,
                              const std::string& options, const Headers& headers);
ProgramReference build_binary(Device& device, const std::string& binary);

std::string binary_of(Device& device, const ProgramReference& program);
// The driver's log of the last build; empty if there is none.
std::string log_of(Device& device, const ProgramReference& program);

}  // namespace dl::opencl

#endif  // DL_OPENCL_PROGRAM_BUILD_H_
