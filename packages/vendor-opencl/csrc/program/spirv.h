// Reduction of a SPIR-V module to one kernel: drivers translate a module as a whole, which takes
// seconds for a family of operators and milliseconds for the kernel that is called.
#ifndef DL_OPENCL_PROGRAM_SPIRV_H_
#define DL_OPENCL_PROGRAM_SPIRV_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dl::opencl {

// Returns the module with this entry point, the functions that it calls, the variables that these
// mention, and all types and constants; names for debuggers are dropped. Throws kit::Error if the
// module is damaged or has no such kernel.
std::vector<uint32_t> single_kernel(const uint32_t* words, size_t count, const std::string& name);

}  // namespace dl::opencl

#endif  // DL_OPENCL_PROGRAM_SPIRV_H_
