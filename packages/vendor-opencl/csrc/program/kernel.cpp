#include "program/kernel.h"

#include "dl/kit/launch_loader.h"
#include "runtime/errors.h"

namespace dl::opencl {

std::unique_ptr<Kernel> Kernel::find(Device& device, const ProgramReference& program,
                                     const std::string& name) {
  cl::Int code = cl::kSuccess;
  const cl::KernelObject made = device.driver().CreateKernel(program.object(), name.c_str(), &code);
  if (code == cl::kInvalidKernelName) return nullptr;
  check(code, "clCreateKernel", "kernel " + kit::readable_name(name.c_str()) + " was not created");
  return std::unique_ptr<Kernel>(new Kernel(device, made, name));
}

Kernel::~Kernel() { (void)device_.driver().ReleaseKernel(object_); }

uint32_t Kernel::argument_count() const {
  cl::UInt count = 0;
  check(device_.driver().GetKernelInfo(object_, cl::kKernelArgumentCount, sizeof count, &count,
                                       nullptr),
        "clGetKernelInfo", "the number of parameters of '" + name_ + "' was not read");
  return count;
}

uint64_t Kernel::property(cl::UInt what) const {
  uint64_t value = 0;
  check(device_.driver().GetKernelWorkGroupInfo(object_, device_.id(), what, sizeof value, &value,
                                                nullptr),
        "clGetKernelWorkGroupInfo", "a limit of kernel '" + name_ + "' was not read");
  return value;
}

void Kernel::launch(Queue& queue, uint32_t dimensions, const size_t* global, const size_t* local,
                    const KernelArgument* arguments, uint32_t count) {
  const Driver& driver = device_.driver();
  Memory& memory = device_.memory();
  const std::lock_guard<std::mutex> lock(mutex_);
  announced_ = memory.announce(object_, announced_);
  for (uint32_t i = 0; i < count; ++i) {
    const KernelArgument& one = arguments[i];
    if (one.kind == KernelArgument::kMemory) {
      memory.set_pointer(object_, i, *static_cast<void* const*>(one.value));
      continue;
    }
    const void* const value = one.kind == KernelArgument::kLocal ? nullptr : one.value;
    const cl::Int code = driver.SetKernelArg(object_, i, one.bytes, value);
    if (code != cl::kSuccess)
      check(code, "clSetKernelArg",
            "argument " + std::to_string(i) + " of kernel " + kit::readable_name(name_.c_str()) +
                " was not set");
  }
  queue.enqueue([&](cl::CommandQueue handle) {
    const cl::Int code = driver.EnqueueNDRangeKernel(handle, object_, dimensions, nullptr, global,
                                                     local, 0, nullptr, nullptr);
    if (code != cl::kSuccess)
      check(code, "clEnqueueNDRangeKernel",
            "kernel " + kit::readable_name(name_.c_str()) + " was not launched");
  });
}

}  // namespace dl::opencl
