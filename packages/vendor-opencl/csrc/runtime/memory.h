// Memory of a device with addresses that kernels can use: embedded in structs, and in the middle of
// a block. OpenCL has two such kinds; buffers have no addresses.
#ifndef DL_OPENCL_RUNTIME_MEMORY_H_
#define DL_OPENCL_RUNTIME_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/driver.h"

namespace dl::opencl {

// All members throw kit::Error on failure, and may be called from any thread.
class Memory {
 public:
  virtual ~Memory() = default;

  virtual const char* kind() const = 0;
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  // One side may be memory of the host, which must stay valid until the copy has finished.
  virtual void copy(cl::CommandQueue queue, void* to, const void* from, size_t bytes) = 0;
  virtual void fill(cl::CommandQueue queue, void* to, unsigned char value, size_t bytes) = 0;

  // Sets a parameter that is a pointer.
  virtual void set_pointer(cl::KernelObject kernel, uint32_t index, const void* memory) = 0;
  // Prepares a kernel to reach memory through pointers that are not parameters. `known` is 0 for a
  // new kernel, and the result of the last call otherwise; the caller has locked the kernel.
  virtual uint64_t announce(cl::KernelObject kernel, uint64_t known) = 0;
};

// Unified shared memory of cl_intel_unified_shared_memory, on the device.
class UsmMemory : public Memory {
 public:
  UsmMemory(const Driver& driver, cl::Platform platform, cl::Context context, cl::DeviceId device);

  const char* kind() const override { return "USM"; }
  void* allocate(size_t bytes) override;
  void release(void* memory) override;
  void copy(cl::CommandQueue queue, void* to, const void* from, size_t bytes) override;
  void fill(cl::CommandQueue queue, void* to, unsigned char value, size_t bytes) override;
  void set_pointer(cl::KernelObject kernel, uint32_t index, const void* memory) override;
  uint64_t announce(cl::KernelObject kernel, uint64_t known) override;

 private:
  const Driver& driver_;
  const cl::Context context_;
  const cl::DeviceId device_;
  void* (*allocate_)(cl::Context, cl::DeviceId, const cl::Bits*, size_t, cl::UInt, cl::Int*);
  cl::Int (*free_)(cl::Context, void*);
  cl::Int (*copy_)(cl::CommandQueue, cl::UInt, void*, const void*, size_t, cl::UInt,
                   const cl::EventObject*, cl::EventObject*);
  cl::Int (*fill_)(cl::CommandQueue, void*, const void*, size_t, size_t, cl::UInt,
                   const cl::EventObject*, cl::EventObject*);
  cl::Int (*set_)(cl::KernelObject, cl::UInt, const void*);
};

// Shared virtual memory of OpenCL 2.0. The host does not map it: all copies are enqueued. Each
// kernel is prepared for all allocations, because it may reach any of them through a struct.
class SvmMemory : public Memory {
 public:
  SvmMemory(const Driver& driver, cl::Context context) : driver_(driver), context_(context) {}

  const char* kind() const override { return "SVM"; }
  void* allocate(size_t bytes) override;
  void release(void* memory) override;
  void copy(cl::CommandQueue queue, void* to, const void* from, size_t bytes) override;
  void fill(cl::CommandQueue queue, void* to, unsigned char value, size_t bytes) override;
  void set_pointer(cl::KernelObject kernel, uint32_t index, const void* memory) override;
  uint64_t announce(cl::KernelObject kernel, uint64_t known) override;

 private:
  const Driver& driver_;
  const cl::Context context_;
  std::mutex mutex_;
  std::map<void*, size_t> allocated_;
  uint64_t version_ = 1;  // of `allocated_`
};

// Returns true if the device has addresses for either kind.
bool has_usm(const Driver& driver, cl::DeviceId device, const std::string& extensions);
bool has_svm(const Driver& driver, cl::DeviceId device);

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_MEMORY_H_
