// A kernel of a built program, and its launch.
#ifndef DL_OPENCL_PROGRAM_KERNEL_H_
#define DL_OPENCL_PROGRAM_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "program/build.h"
#include "runtime/queue.h"

namespace dl::opencl {

// One argument: memory of the device, a value, or local memory of the work-group.
struct KernelArgument {
  enum Kind { kValue, kMemory, kLocal } kind;
  size_t bytes;
  const void* value;  // points to the value, or to the address; not used for local memory
};

class Kernel {
 public:
  // Returns null if the program has no kernel of this name. Throws kit::Error.
  static std::unique_ptr<Kernel> find(Device& device, const ProgramReference& program,
                                      const std::string& name);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

  const std::string& name() const { return name_; }
  uint32_t argument_count() const;
  // A property of the kernel on its device, such as cl::kKernelWorkGroupSize.
  uint64_t property(cl::UInt what) const;

  void launch(Queue& queue, uint32_t dimensions, const size_t* global, const size_t* local,
              const KernelArgument* arguments, uint32_t count);

 private:
  Kernel(Device& device, cl::KernelObject object, std::string name)
      : device_(device), object_(object), name_(std::move(name)) {}

  Device& device_;
  const cl::KernelObject object_;
  const std::string name_;
  std::mutex mutex_;  // OpenCL keeps arguments in the kernel until it is enqueued
  uint64_t announced_ = 0;
};

}  // namespace dl::opencl

#endif  // DL_OPENCL_PROGRAM_KERNEL_H_
