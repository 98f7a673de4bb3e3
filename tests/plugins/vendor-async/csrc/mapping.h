#ifndef DL_ASYNC_TEST_MAPPING_H_
#define DL_ASYNC_TEST_MAPPING_H_

#include <cstddef>
#include <cstdint>

#include "file.h"

namespace dl::async_test {

/** Pages of this process; unmapped on destruction. */
class Mapping {
 public:
  /** Private memory of this process. `protection` is mmap's. */
  Mapping(uint64_t bytes, int protection);
  /** A part of a file, shared with other processes or copied. `offset` is a multiple of the page
   * size. */
  Mapping(uint64_t bytes, const File& file, uint64_t offset, bool shared = true);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* begin() const { return begin_; }

 private:
  std::byte* begin_;
  uint64_t bytes_;
};

}  // namespace dl::async_test

#endif
