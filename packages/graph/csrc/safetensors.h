// Safetensors file in memory, checked before any part is used.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dl::graph {

struct FileTensor {
  int32_t dtype = 0;  // diopiDtype_t
  std::vector<int64_t> shape;
  const unsigned char* data = nullptr;
  uint64_t bytes = 0;
};

struct SafeTensors {
  std::map<std::string, FileTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Offset of the header. The file begins with the length of the header.
constexpr uint64_t kHeaderBegin = 8;

// Returns the offset of the header's end, given the beginning of a file of `count` bytes. Throws
// Failure if the file is shorter.
uint64_t header_end(const unsigned char* begin, uint64_t count);

// Throws Failure if offsets are outside the file, tensors overlap or leave a gap, sizes do not fit
// the data, or the header is not JSON. The result points into `content`.
SafeTensors read_safetensors(const unsigned char* content, uint64_t count);

}  // namespace dl::graph
