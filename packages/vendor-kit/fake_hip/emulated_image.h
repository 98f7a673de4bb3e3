// A kernel of ordinary code in place of a code object: what a library that g++ made hands to the
// driver, through the same entry points as one that hipcc made, and only the fake driver runs.
#ifndef FAKE_HIP_EMULATED_IMAGE_H_
#define FAKE_HIP_EMULATED_IMAGE_H_

#include <cstddef>
#include <cstdint>

namespace emulated {

inline constexpr char kMagic[8] = {'E', 'M', 'U', 'L', 'A', 'T', 'E', 'D'};

// What a kernel runs with. `arguments` points to a copy of each.
struct Run {
  unsigned blocks;
  int wave;  // threads of a wave on the card
  void* const* arguments;
  unsigned grid[3], block[3];
  unsigned shared;  // bytes that the launch adds
};

struct Image {
  char magic[8];
  unsigned threads;     // of a block, which has no second dimension; 0 for any block and grid
  unsigned count;       // of arguments
  const size_t* sizes;  // in bytes
  void (*run)(const Image*, const Run*);
};

// Code that a fake compiler made of source text: a shared library behind this, which has an Image
// for each kernel, under its name behind kPrefix. It is for one processor.
struct CompiledCode {
  static constexpr char kMagic[8] = {'C', 'O', 'M', 'P', 'I', 'L', 'E', 'D'};
  static constexpr char kPrefix[] = "fake_hip_image_";
  char magic[8];
  char processor[32];
  uint64_t bytes;  // of the library
};

}  // namespace emulated

#endif  // FAKE_HIP_EMULATED_IMAGE_H_
