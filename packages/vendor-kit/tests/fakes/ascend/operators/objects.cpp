// Functions of libnnopbase that create and destroy the arguments of operators.
#include "objects.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../../common/registry.h"
#include "../hooks.h"
#include "numbers.h"

namespace fake_aclnn {
namespace {

// Never destroyed: the threads of streams run until the process exits.
fake_driver::Registry<Object>& all() {
  static auto* const made = new fake_driver::Registry<Object>;
  return *made;
}

std::atomic<size_t> misuses{0};

}  // namespace

void add_object(std::unique_ptr<Object> object) { all().add(std::move(object)); }

bool is_alive(const void* pointer, Kind kind) { return all().find(pointer, kind) != nullptr; }

bool remove_object(const void* pointer, Kind kind) { return all().remove(pointer, kind); }

size_t count_alive(Kind kind) { return all().count(kind); }

void set_view_shape(const aclTensor* tensor, const std::vector<int64_t>& sizes) {
  if (Object* const found = all().find(tensor, Kind::kTensor))
    static_cast<aclTensor*>(found)->sizes = sizes;
}

void log_line(const std::string& text) {
  static std::mutex* const mutex = new std::mutex;
  const char* path = std::getenv("FAKE_ACLNN_LOG");
  if (path == nullptr || *path == '\0') return;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", text.c_str());
    std::fclose(file);
  }
}

int misuse(const std::string& text) {
  ++misuses;
  const std::string line = "simulated aclnn: misuse: " + text;
  std::fprintf(stderr, "%s\n", line.c_str());
  log_line("misuse: " + text);
  fakeAclSetErrorText(line.c_str());
  return kRuntimeError;
}

int refuse(int code, const std::string& text) {
  log_line("refused: " + text);
  fakeAclSetErrorText(("simulated aclnn: " + text).c_str());
  return code;
}

size_t misuse_count() { return misuses; }

int injected(const std::string& function) {
  const char* setting = std::getenv("FAKE_ACLNN_FAIL");
  if (setting == nullptr) return 0;
  const std::string list = std::string(",") + setting;
  const size_t found = list.find("," + function + ":");
  return found == std::string::npos ? 0 : std::atoi(list.c_str() + found + function.size() + 2);
}

}  // namespace fake_aclnn

using namespace fake_aclnn;

namespace {

template <typename T>
const T* registered(std::unique_ptr<T> object) {
  const T* pointer = object.get();
  add_object(std::move(object));
  return pointer;
}

template <typename Array, typename Element>
Array* create_array(const char* function, const Element* values, uint64_t size) {
  if ((values == nullptr && size != 0) || injected(function) != 0) return nullptr;
  auto made = std::make_unique<Array>();
  made->values.assign(values, values + size);
  return const_cast<Array*>(registered(std::move(made)));
}

int destroy(const void* pointer, Kind kind, const char* function) {
  if (pointer == nullptr) return kOk;
  if (remove_object(pointer, kind)) return kOk;
  return misuse(std::string(function) + ": the object is not alive, or has another type");
}

}  // namespace

DL_FAKE_ACLNN_API aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                             aclDataType dataType, const int64_t* stride,
                                             int64_t offset, aclFormat format,
                                             const int64_t* storageDims, uint64_t storageDimsNum,
                                             void* tensorData) {
  if ((viewDims == nullptr && viewDimsNum != 0) ||
      (storageDims == nullptr && storageDimsNum != 0) || injected("aclCreateTensor") != 0)
    return nullptr;
  auto made = std::make_unique<aclTensor>();
  made->sizes.assign(viewDims, viewDims + viewDimsNum);
  made->strides.assign(viewDimsNum, 1);
  for (size_t i = viewDimsNum; i-- > 1;) made->strides[i - 1] = made->strides[i] * made->sizes[i];
  if (stride != nullptr) made->strides.assign(stride, stride + viewDimsNum);
  made->storage.assign(storageDims, storageDims + storageDimsNum);
  made->dtype = dataType;
  made->format = format;
  made->offset = offset;
  made->base = tensorData;
  return const_cast<aclTensor*>(registered(std::move(made)));
}
DL_FAKE_ACLNN_API aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  auto made = std::make_unique<aclScalar>();
  made->dtype = dataType;
  if (value == nullptr || !read_scalar(value, dataType, made.get())) return nullptr;
  if (injected("aclCreateScalar") != 0) return nullptr;
  return const_cast<aclScalar*>(registered(std::move(made)));
}
DL_FAKE_ACLNN_API aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return create_array<aclIntArray>("aclCreateIntArray", value, size);
}
DL_FAKE_ACLNN_API aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return create_array<aclFloatArray>("aclCreateFloatArray", value, size);
}
DL_FAKE_ACLNN_API aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return create_array<aclBoolArray>("aclCreateBoolArray", value, size);
}
DL_FAKE_ACLNN_API aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return create_array<aclTensorList>("aclCreateTensorList", value, size);
}

DL_FAKE_ACLNN_API int aclDestroyTensor(const aclTensor* tensor) {
  return destroy(tensor, Kind::kTensor, "aclDestroyTensor");
}
DL_FAKE_ACLNN_API int aclDestroyScalar(const aclScalar* scalar) {
  return destroy(scalar, Kind::kScalar, "aclDestroyScalar");
}
DL_FAKE_ACLNN_API int aclDestroyIntArray(const aclIntArray* array) {
  return destroy(array, Kind::kInts, "aclDestroyIntArray");
}
DL_FAKE_ACLNN_API int aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy(array, Kind::kFloats, "aclDestroyFloatArray");
}
DL_FAKE_ACLNN_API int aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy(array, Kind::kBools, "aclDestroyBoolArray");
}
DL_FAKE_ACLNN_API int aclDestroyTensorList(const aclTensorList* array) {
  if (array == nullptr) return kOk;
  if (!is_alive(array, Kind::kTensors)) return misuse("aclDestroyTensorList: it is not alive");
  int result = kOk;
  for (const aclTensor* element : array->values) {
    if (const int code = aclDestroyTensor(element)) result = code;
  }
  remove_object(array, Kind::kTensors);
  return result;
}

DL_FAKE_ACLNN_API int aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                      uint64_t* viewDimsNum) {
  if (!is_alive(tensor, Kind::kTensor)) {
    misuse("aclGetViewShape: the tensor is not alive");
    return kNullArgument;
  }
  *viewDimsNum = tensor->sizes.size();
  *viewDims = new int64_t[tensor->sizes.size() + 1];  // the caller deletes it
  std::copy(tensor->sizes.begin(), tensor->sizes.end(), *viewDims);
  return kOk;
}

// For tests: number of live objects ("tensors", "scalars", "arrays", "lists", "executors"), or of
// "misuses".
DL_FAKE_ACLNN_API size_t fakeAclnnCount(const char* what) {
  const std::string name = what;
  if (name == "tensors") return count_alive(Kind::kTensor);
  if (name == "scalars") return count_alive(Kind::kScalar);
  if (name == "arrays")
    return count_alive(Kind::kInts) + count_alive(Kind::kFloats) + count_alive(Kind::kBools);
  if (name == "lists") return count_alive(Kind::kTensors);
  if (name == "executors") return count_alive(Kind::kExecutor);
  return name == "misuses" ? misuse_count() : 0;
}
