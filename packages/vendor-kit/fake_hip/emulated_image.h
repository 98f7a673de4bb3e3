// A kernel of ordinary code in place of a code object: what a library that g++ made hands to the
// driver, through the same entry points as one that hipcc made, and only the fake driver runs.
#ifndef FAKE_HIP_EMULATED_IMAGE_H_
#define FAKE_HIP_EMULATED_IMAGE_H_

#include <cstddef>

namespace emulated {

inline constexpr char kMagic[8] = {'E', 'M', 'U', 'L', 'A', 'T', 'E', 'D'};

// What a kernel runs with. `arguments` points to a copy of each.
struct Run {
  unsigned blocks;
  int wave;  // threads of a wave on the card
  void* const* arguments;
};

struct Image {
  char magic[8];
  unsigned threads;     // of a block
  unsigned count;       // of arguments
  const size_t* sizes;  // in bytes
  void (*run)(const Image*, const Run*);
};

}  // namespace emulated

#endif  // FAKE_HIP_EMULATED_IMAGE_H_
