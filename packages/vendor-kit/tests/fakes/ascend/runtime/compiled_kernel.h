// Code that the fake compiler of Ascend C makes, as the fake runtime loads it: a header, then a
// shared library, which has a Kernel for each kernel, named kPrefix plus the kernel's name.
#ifndef FAKE_ACL_COMPILED_KERNEL_H_
#define FAKE_ACL_COMPILED_KERNEL_H_

#include <cstddef>
#include <cstdint>

namespace fake_kernels {

struct Header {
  static constexpr char kMagic[8] = {'F', 'A', 'K', 'E', '-', 'N', 'P', 'U'};
  char magic[8];
  uint64_t bytes;  // size of the library
};
constexpr char kPrefix[] = "fake_kernel_";

struct Parameter {
  size_t size;
  bool is_address;
};
struct Kernel {
  size_t count;
  const Parameter* parameters;
  void (*run)(void* const* arguments, unsigned block, unsigned blocks);
};

}  // namespace fake_kernels

#endif  // FAKE_ACL_COMPILED_KERNEL_H_
