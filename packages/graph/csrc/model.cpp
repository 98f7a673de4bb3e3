#include "model.h"

#include <algorithm>

#include "failure.h"

namespace dl::graph {
namespace {

constexpr const char* kDtypes[] = {"int8",      "uint8",     "int16",    "uint16",   "int32",
                                   "uint32",    "int64",     "uint64",   "float16",  "float32",
                                   "float64",   "bool",      "bfloat16", "tfloat32", "complex32",
                                   "complex64", "complex128"};

}  // namespace

const char* dtype_text(int32_t dtype) { return kDtypes[dtype]; }

int32_t dtype_of(const std::string& name) {
  const auto* const known = std::find(std::begin(kDtypes), std::end(kDtypes), name);
  if (known == std::end(kDtypes)) throw Failure("unknown dtype " + shown(name));
  return static_cast<int32_t>(known - std::begin(kDtypes));
}

}  // namespace dl::graph
