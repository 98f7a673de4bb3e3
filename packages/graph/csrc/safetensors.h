// A safetensors file in memory, checked before anything of it is used.
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

// A file begins with the length of its header, which follows.
constexpr uint64_t kHeaderBegin = 8;

// Returns where the header ends, given the beginning of a file of `count` bytes. Throws Failure:
// the file is shorter than that.
uint64_t header_end(const unsigned char* begin, uint64_t count);

// Throws Failure: offsets outside of the file, tensors that overlap or leave a hole, sizes that do
// not fit their dtype, a header that is not JSON. The result points into `content`.
SafeTensors read_safetensors(const unsigned char* content, uint64_t count);

}  // namespace dl::graph
