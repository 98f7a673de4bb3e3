// Tensors, scalars, arrays and lists that a program creates, and the register of live ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "types.h"

#pragma GCC visibility push(hidden)

namespace fake_aclnn {

enum class Kind { kTensor, kScalar, kInts, kFloats, kBools, kTensors, kExecutor };

struct Object {
  explicit Object(Kind of) : kind(of) {}
  virtual ~Object() = default;
  const Kind kind;
};

}  // namespace fake_aclnn

struct aclTensor : fake_aclnn::Object {
  aclTensor() : Object(fake_aclnn::Kind::kTensor) {}
  std::vector<int64_t> sizes, strides, storage;
  int64_t offset = 0;  // in elements
  int dtype = 0, format = 0;
  void* base = nullptr;
};
struct aclScalar : fake_aclnn::Object {
  aclScalar() : Object(fake_aclnn::Kind::kScalar) {}
  int dtype = 0;
  double real = 0, imaginary = 0;
  int64_t integer = 0;
};
struct aclIntArray : fake_aclnn::Object {
  aclIntArray() : Object(fake_aclnn::Kind::kInts) {}
  std::vector<int64_t> values;
};
struct aclFloatArray : fake_aclnn::Object {
  aclFloatArray() : Object(fake_aclnn::Kind::kFloats) {}
  std::vector<float> values;
};
struct aclBoolArray : fake_aclnn::Object {
  aclBoolArray() : Object(fake_aclnn::Kind::kBools) {}
  std::vector<bool> values;
};
// A list owns its elements.
struct aclTensorList : fake_aclnn::Object {
  aclTensorList() : Object(fake_aclnn::Kind::kTensors) {}
  std::vector<const aclTensor*> values;
};

namespace fake_aclnn {

// Registers a new object.
void add_object(std::unique_ptr<Object> object);
// Returns true if the pointer is to a live object of this kind.
bool is_alive(const void* pointer, Kind kind);
// Ends the life of an object; false if it is not alive.
bool remove_object(const void* pointer, Kind kind);
// Number of live objects of a kind.
size_t count_alive(Kind kind);
// Changes the view shape of a tensor, if it is still alive.
void set_view_shape(const aclTensor* tensor, const std::vector<int64_t>& sizes);

// Records misuse: a call that a device would answer with wrong results or a crash. Prints it, and
// returns kRuntimeError.
int misuse(const std::string& text);
// Records that the library refuses a call, and returns the code.
int refuse(int code, const std::string& text);
// Appends a line to the file FAKE_ACLNN_LOG.
void log_line(const std::string& text);
size_t misuse_count();
// Returns the error code that FAKE_ACLNN_FAIL, such as "aclnnAddGetWorkspaceSize:361001,
// aclnnMul@stream:507015,aclCreateTensor:1", injects into a function; 0 for none.
int injected(const std::string& function);

// Bytes of an element; 0 for an unknown dtype.
size_t element_bytes(int dtype);

}  // namespace fake_aclnn

#pragma GCC visibility pop
