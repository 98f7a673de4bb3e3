// A host function in place of a code object: a library compiled by g++ passes it to the driver
// through the same entry points as hipcc's output, and only the fake driver can run it.
#ifndef FAKE_HIP_EMULATED_IMAGE_H_
#define FAKE_HIP_EMULATED_IMAGE_H_

#include <cstddef>
#include <cstdint>

namespace emulated {

inline constexpr char kMagic[8] = {'E', 'M', 'U', 'L', 'A', 'T', 'E', 'D'};

// Launch parameters of a kernel. `arguments` points to a copy of each argument.
struct Run {
  unsigned blocks;
  int wave;  // threads per wave of the device
  void* const* arguments;
  unsigned grid[3], block[3];
  unsigned shared;  // dynamic shared memory in bytes
};

struct Image {
  char magic[8];
  unsigned threads;     // per one-dimensional block; 0 for any block and grid
  unsigned count;       // number of arguments
  const size_t* sizes;  // in bytes
  void (*run)(const Image*, const Run*);
};

// Code that a fake compiler made from source text: a shared library follows, which has an Image for
// each kernel, named kPrefix plus the kernel's name. It is valid for one architecture.
struct CompiledCode {
  static constexpr char kMagic[8] = {'C', 'O', 'M', 'P', 'I', 'L', 'E', 'D'};
  static constexpr char kPrefix[] = "fake_hip_image_";
  char magic[8];
  char processor[32];
  uint64_t bytes;  // size of the library
};

}  // namespace emulated

#endif  // FAKE_HIP_EMULATED_IMAGE_H_
