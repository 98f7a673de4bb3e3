// Handles and descriptors that a program creates, and the register of live ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meaning.h"
#include "operators/cnnl_types.h"

#pragma GCC visibility push(hidden)

namespace fake_cnnl {

enum class Kind {
  kHandle,
  kTensor,
  kActivation,
  kConvolution,
  kMatMul,
  kAlgorithm,
  kHeuristic,
  kOpTensor,
  kPooling,
  kReduce,
};

struct Object {
  explicit Object(Kind of) : kind(of) {}
  virtual ~Object() = default;
  const Kind kind;
};
struct Handle : Object {
  explicit Handle(int of) : Object(Kind::kHandle), device(of) {}
  const int device;
  void* queue = nullptr;
  bool is_bound = false;
};
struct TensorDescriptor : Object {
  TensorDescriptor() : Object(Kind::kTensor) {}
  bool is_set = false;
  int layout = 0, dtype = 0;
  Sizes sizes, strides;
};
struct OperatorDescriptor : Object {
  using Object::Object;
  Described values;
  // For algorithms and heuristics: the size of the workspace, and the shapes that it is for. Their
  // values are those of the descriptor of the product.
  uint64_t workspace = 0;
  std::vector<Sizes> shapes;
};

// Returns the live object of this kind, or null.
Object* find_object(const void* pointer, Kind kind);
// Returns the kind of object of an argument with this C type.
Kind kind_of_type(const std::string& type);
size_t count_objects(Kind kind);

// Records misuse: a call that a device would answer with wrong results or a crash. Prints it, and
// returns CNNL_STATUS_EXECUTION_FAILED.
int misuse(const std::string& text);
// Records that the library refuses a call, and returns the status.
int refuse(int status, const std::string& text);
// Appends a line to the file FAKE_CNNL_LOG.
void log_line(const std::string& text);
// Returns the status that FAKE_CNNL_FAIL injects into a function; 0 for none.
int injected(const std::string& function);

// Odd, so that a caller that rounds, or passes the size of another call, is detected.
inline uint64_t odd_size(uint64_t hash) { return 1001 + 2 * (hash % 700); }

// Bytes of one element; 0 for an unknown dtype.
size_t element_bytes(int dtype);
Dtype contract_dtype(int dtype);

}  // namespace fake_cnnl

#pragma GCC visibility pop
