// The host side of the kernels' launches and copies, for machine/opencl.h.
#ifndef DL_OPENCL_MACHINE_LAUNCH_H_
#define DL_OPENCL_MACHINE_LAUNCH_H_

#include <cstddef>
#include <cstdint>

// All functions throw dl::kit::Error. A stream that is NULL is the default stream of the thread's
// current device.
namespace dl::opencl {

// A kernel's parameter: `value` points to the argument.
struct Argument {
  const void* value;
  size_t bytes;
  bool is_pointer;
};

// Enqueues a kernel, identified by the address with which clang registers it.
void launch(void* stream, const void* kernel, int64_t groups, int threads,
            const Argument* arguments, uint32_t count);
void copy_on_device(void* stream, void* to, const void* from, size_t bytes);
void clear_on_device(void* stream, void* to, size_t bytes);
// Copies to the host and waits.
void fetch_from_device(void* stream, void* to, const void* from, size_t bytes);

}  // namespace dl::opencl

#endif  // DL_OPENCL_MACHINE_LAUNCH_H_
