// Compatibility of this library's device code with GPUs. The build defines DL_ROCM_CODE, such as
// "gfx90a gfx1030", or "emulated" for kernels that only a simulated device runs.
#ifndef DL_ROCM_RUNTIME_CODE_H_
#define DL_ROCM_RUNTIME_CODE_H_

#include <string>
#include <utility>

namespace dl::rocm {

// Returns "gfx90a" for "gfx90a:sramecc+:xnack-": code that does not require features runs with any.
inline std::string processor_of(const std::string& architecture) {
  return architecture.substr(0, architecture.find(':'));
}

// Returns 5 for HIP's version 50221153, which is 5.2.21153.
constexpr int major_of(int version) { return version / 10000000; }

// Returns "5.2" for the same version.
inline std::string version_text(int version) {
  return std::to_string(major_of(version)) + "." + std::to_string(version / 100000 % 100);
}

class DeviceCode {
 public:
  // `list`: names of processors, separated by spaces.
  explicit DeviceCode(std::string list) : list_(std::move(list)) {}

  // Code runs on its own processor only, not on others of the same generation.
  bool runs_on(const std::string& processor) const {
    return is_emulated() || (" " + list_ + " ").find(" " + processor + " ") != std::string::npos;
  }

  bool is_emulated() const { return list_ == "emulated"; }
  const std::string& list() const { return list_; }

 private:
  std::string list_;
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_CODE_H_
