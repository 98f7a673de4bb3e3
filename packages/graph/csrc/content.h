// Bytes of a graph file: a private mapping of the file, or a copy of memory.
#pragma once

#include <cstdint>
#include <utility>

namespace dl::graph {

class Content {
 public:
  // Maps a regular file. Throws Failure if it is not a regular file, cannot be read, or its header
  // does not match its length. Only the header is read for these checks.
  static Content of_file(const char* path);
  // Aligned like device memory, because it may be used as such. Throws std::bad_alloc.
  static Content copy_of(const void* bytes, uint64_t count);

  Content(Content&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_), mapped_(other.mapped_) {}
  Content& operator=(Content&&) = delete;
  ~Content();

  const unsigned char* data() const { return data_; }
  uint64_t count() const { return count_; }

 private:
  Content(unsigned char* data, uint64_t count, bool mapped)
      : data_(data), count_(count), mapped_(mapped) {}

  unsigned char* data_;
  uint64_t count_;
  bool mapped_;
};

}  // namespace dl::graph
