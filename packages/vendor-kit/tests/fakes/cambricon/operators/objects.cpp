// Functions of CNNL that create, set and destroy objects.
#include "objects.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "../../common/registry.h"
#include "../hooks.h"
#include "dl/dtype.h"

namespace fake_cnnl {
namespace {

// Never destroyed: the threads of queues run until the process exits.
fake_driver::Registry<Object>& all() {
  static auto* const made = new fake_driver::Registry<Object>;
  return *made;
}

std::atomic<size_t> misuses{0};

template <class Pointer>
int create(Pointer* out, std::unique_ptr<Object> object, const char* function) {
  log_line(function);
  if (const int status = injected(function)) return status;
  if (out == nullptr) return CNNL_STATUS_BAD_PARAM;
  *out = reinterpret_cast<Pointer>(object.get());
  all().add(std::move(object));
  return CNNL_STATUS_SUCCESS;
}
int destroy(const void* object, Kind kind, const char* function) {
  return all().remove(object, kind) ? int{CNNL_STATUS_SUCCESS}
                                    : misuse(std::string(function) + ": the object is not alive");
}

OperatorDescriptor* operator_descriptor(const void* pointer, Kind kind, const char* function) {
  Object* const found = find_object(pointer, kind);
  if (found == nullptr) misuse(std::string(function) + ": the descriptor is not alive");
  return static_cast<OperatorDescriptor*>(found);
}

std::vector<int64_t> wide(const int* values, int count) { return {values, values + count}; }

}  // namespace

Object* find_object(const void* pointer, Kind kind) { return all().find(pointer, kind); }
size_t count_objects(Kind kind) { return all().count(kind); }

Kind kind_of_type(const std::string& type) {
  static const std::map<std::string, Kind> kKinds = {
      {"cnnlActivationDescriptor_t", Kind::kActivation},
      {"cnnlConvolutionDescriptor_t", Kind::kConvolution},
      {"cnnlMatMulDescriptor_t", Kind::kMatMul},
      {"cnnlMatMulAlgo_t", Kind::kAlgorithm},
      {"cnnlOpTensorDescriptor_t", Kind::kOpTensor},
      {"cnnlPoolingDescriptor_t", Kind::kPooling},
      {"cnnlReduceDescriptor_t", Kind::kReduce},
  };
  return kKinds.at(type);
}

void log_line(const std::string& text) {
  static std::mutex* const mutex = new std::mutex;
  const char* path = std::getenv("FAKE_CNNL_LOG");
  if (path == nullptr || *path == '\0') return;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", text.c_str());
    std::fclose(file);
  }
}

int misuse(const std::string& text) {
  ++misuses;
  std::fprintf(stderr, "simulated CNNL: misuse: %s\n", text.c_str());
  log_line("misuse: " + text);
  return CNNL_STATUS_EXECUTION_FAILED;
}
int refuse(int status, const std::string& text) {
  log_line("refused: " + text);
  return status;
}

int injected(const std::string& function) {
  const char* setting = std::getenv("FAKE_CNNL_FAIL");
  if (setting == nullptr) return 0;
  const std::string list = std::string(",") + setting;
  const size_t found = list.find("," + function + ":");
  return found == std::string::npos ? 0 : std::atoi(list.c_str() + found + function.size() + 2);
}

Dtype contract_dtype(int dtype) {
  switch (dtype) {
    case CNNL_DTYPE_HALF:
      return diopi_dtype_float16;
    case CNNL_DTYPE_FLOAT:
      return diopi_dtype_float32;
    case CNNL_DTYPE_INT8:
      return diopi_dtype_int8;
    case CNNL_DTYPE_INT16:
      return diopi_dtype_int16;
    case CNNL_DTYPE_INT32:
      return diopi_dtype_int32;
    case CNNL_DTYPE_UINT8:
      return diopi_dtype_uint8;
    case CNNL_DTYPE_BOOL:
      return diopi_dtype_bool;
    case CNNL_DTYPE_INT64:
      return diopi_dtype_int64;
    case CNNL_DTYPE_DOUBLE:
      return diopi_dtype_float64;
    case CNNL_DTYPE_BFLOAT16:
      return diopi_dtype_bfloat16;
    default:
      return diopi_dtype_unsupported;
  }
}
size_t element_bytes(int dtype) {
  const Dtype found = contract_dtype(dtype);
  return found == diopi_dtype_unsupported ? 0 : bytes_of(found);
}

}  // namespace fake_cnnl

using namespace fake_cnnl;

#define CNNL extern "C" __attribute__((visibility("default")))

CNNL const char* cnnlGetErrorString(int status) {
  static const char* const kTexts[] = {
      "CNNL_STATUS_SUCCESS",           "CNNL_STATUS_NOT_INITIALIZED",
      "CNNL_STATUS_ALLOC_FAILED",      "CNNL_STATUS_BAD_PARAM",
      "CNNL_STATUS_INTERNAL_ERROR",    "CNNL_STATUS_ARCH_MISMATCH",
      "CNNL_STATUS_EXECUTION_FAILED",  "CNNL_STATUS_NOT_SUPPORTED",
      "CNNL_STATUS_NUMERICAL_OVERFLOW"};
  return status >= 0 && status < 9 ? kTexts[status] : "CNNL_STATUS_UNKNOWN";
}

CNNL int cnnlCreate(cnnlHandle_t* handle) {
  return create(handle, std::make_unique<Handle>(fakeCnrtCurrentDevice()), "cnnlCreate");
}
CNNL int cnnlSetQueue(cnnlHandle_t handle, void* queue) {
  auto* const found = static_cast<Handle*>(find_object(handle, Kind::kHandle));
  if (found == nullptr) return misuse("cnnlSetQueue: the handle is not alive");
  if (const int status = injected("cnnlSetQueue")) return status;
  if (fakeCnrtQueueDevice(queue) != found->device)
    return misuse("cnnlSetQueue: the queue is not alive, or belongs to another device");
  found->queue = queue;
  found->is_bound = true;
  return CNNL_STATUS_SUCCESS;
}

CNNL int cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t* desc) {
  return create(desc, std::make_unique<TensorDescriptor>(), "cnnlCreateTensorDescriptor");
}
CNNL int cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc, int layout, int dtype, int dimNb,
                                   const int dimSize[], const int dimStride[]) {
  auto* const found = static_cast<TensorDescriptor*>(find_object(desc, Kind::kTensor));
  if (found == nullptr) return misuse("cnnlSetTensorDescriptorEx: the descriptor is not alive");
  if (const int status = injected("cnnlSetTensorDescriptorEx")) return status;
  if (dimNb < 1 || dimNb > 8 || element_bytes(dtype) == 0)
    return refuse(CNNL_STATUS_BAD_PARAM, "cnnlSetTensorDescriptorEx: dimensions or dtype");
  found->layout = layout;
  found->dtype = dtype;
  found->sizes = wide(dimSize, dimNb);
  found->strides = wide(dimStride, dimNb);
  found->is_set = true;
  return CNNL_STATUS_SUCCESS;
}
CNNL int cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc) {
  return destroy(desc, Kind::kTensor, "cnnlDestroyTensorDescriptor");
}

#define DESCRIPTOR(Name, kind)                                            \
  CNNL int cnnlCreate##Name##Descriptor(cnnl##Name##Descriptor_t* desc) { \
    return create(desc, std::make_unique<OperatorDescriptor>(kind),       \
                  "cnnlCreate" #Name "Descriptor");                       \
  }                                                                       \
  CNNL int cnnlDestroy##Name##Descriptor(cnnl##Name##Descriptor_t desc) { \
    return destroy(desc, kind, "cnnlDestroy" #Name "Descriptor");         \
  }
DESCRIPTOR(Activation, Kind::kActivation)
DESCRIPTOR(OpTensor, Kind::kOpTensor)
DESCRIPTOR(Reduce, Kind::kReduce)
DESCRIPTOR(Convolution, Kind::kConvolution)
DESCRIPTOR(Pooling, Kind::kPooling)

#define FIND(desc, kind, function)                               \
  auto* const found = operator_descriptor(desc, kind, function); \
  if (found == nullptr) return CNNL_STATUS_EXECUTION_FAILED;     \
  if (const int status = injected(function)) return status;      \
  found->values.present = true

CNNL int cnnlSetActivationDescriptor_v6(cnnlActivationDescriptor_t desc, int mode, int prefer,
                                        int nan_prop, float coef, int sliced_dim, float gamma,
                                        float scale, bool is_result, bool approximate) {
  FIND(desc, Kind::kActivation, "cnnlSetActivationDescriptor_v6");
  found->values.numbers = {
      {"mode", mode},   {"prefer", prefer},       {"nan_prop", nan_prop},
      {"coef", coef},   {"gamma", gamma},         {"sliced_dim", sliced_dim},
      {"scale", scale}, {"is_result", is_result}, {"approximate", approximate}};
  return CNNL_STATUS_SUCCESS;
}
CNNL int cnnlSetOpTensorDescriptor(cnnlOpTensorDescriptor_t desc, int op_type, int comp_type,
                                   int nan_opt) {
  FIND(desc, Kind::kOpTensor, "cnnlSetOpTensorDescriptor");
  found->values.numbers = {{"op_type", op_type}, {"comp_type", comp_type}, {"nan_opt", nan_opt}};
  return CNNL_STATUS_SUCCESS;
}
CNNL int cnnlSetReduceDescriptor_v2(cnnlReduceDescriptor_t desc, const int axis[], int axis_num,
                                    int reduce_op, int tensor_type, int nan_propagation,
                                    int tensor_indices, int indices_type, float p) {
  FIND(desc, Kind::kReduce, "cnnlSetReduceDescriptor_v2");
  found->values.numbers = {{"reduce_op", reduce_op},
                           {"tensor_type", tensor_type},
                           {"nan_propagation", nan_propagation},
                           {"tensor_indices", tensor_indices},
                           {"indices_type", indices_type},
                           {"p", p}};
  found->values.lists = {{"axis", wide(axis, axis_num)}};
  return CNNL_STATUS_SUCCESS;
}
CNNL int cnnlSetConvolutionDescriptor(cnnlConvolutionDescriptor_t desc, int dims, const int pad[],
                                      const int stride[], const int dilation[], int group_count,
                                      int compute_type) {
  FIND(desc, Kind::kConvolution, "cnnlSetConvolutionDescriptor");
  if (dims != 4) return CNNL_STATUS_NOT_SUPPORTED;
  found->values.numbers = {{"group_count", group_count}, {"compute_type", compute_type}};
  found->values.lists = {
      {"pad", wide(pad, 4)}, {"stride", wide(stride, 2)}, {"dilation", wide(dilation, 2)}};
  return CNNL_STATUS_SUCCESS;
}
CNNL int cnnlSetPooling2dDescriptor_v2(cnnlPoolingDescriptor_t desc, int mode, int nan_opt,
                                       int window_height, int window_width, int top_padding,
                                       int bottom_padding, int left_padding, int right_padding,
                                       int vertical_stride, int horizon_stride,
                                       int vertical_dilation, int horizon_dilation,
                                       bool ceil_mode) {
  FIND(desc, Kind::kPooling, "cnnlSetPooling2dDescriptor_v2");
  if (top_padding != bottom_padding || left_padding != right_padding)
    return CNNL_STATUS_NOT_SUPPORTED;
  found->values.numbers = {{"mode", mode}, {"nan_opt", nan_opt}, {"ceil_mode", ceil_mode}};
  found->values.lists = {{"window", {window_height, window_width}},
                         {"padding", {top_padding, left_padding}},
                         {"stride", {vertical_stride, horizon_stride}},
                         {"dilation", {vertical_dilation, horizon_dilation}}};
  return CNNL_STATUS_SUCCESS;
}

CNNL int cnnlMatMulDescCreate(cnnlMatMulDescriptor_t* desc) {
  return create(desc, std::make_unique<OperatorDescriptor>(Kind::kMatMul), "cnnlMatMulDescCreate");
}
CNNL int cnnlMatMulDescDestroy(cnnlMatMulDescriptor_t desc) {
  return destroy(desc, Kind::kMatMul, "cnnlMatMulDescDestroy");
}
CNNL int cnnlSetMatMulDescAttr(cnnlMatMulDescriptor_t desc, int attribute, const void* buffer,
                               size_t size) {
  FIND(desc, Kind::kMatMul, "cnnlSetMatMulDescAttr");
  if (size != sizeof(int32_t)) return CNNL_STATUS_BAD_PARAM;
  int32_t value = 0;
  std::memcpy(&value, buffer, sizeof value);
  switch (attribute) {
    case CNNL_MATMUL_DESC_COMPUTE_TYPE:
      found->values.numbers["compute_type"] = value;
      return CNNL_STATUS_SUCCESS;
    case CNNL_MATMUL_DESC_TRANSA:
      found->values.numbers["transa"] = value;
      return CNNL_STATUS_SUCCESS;
    case CNNL_MATMUL_DESC_TRANSB:
      found->values.numbers["transb"] = value;
      return CNNL_STATUS_SUCCESS;
    case CNNL_MATMUL_USE_BETA:
      found->values.numbers["use_beta"] = value;
      return CNNL_STATUS_SUCCESS;
    case CNNL_MATMUL_ALLOW_TF32:
      found->values.numbers["allow_tf32"] = value;
      return CNNL_STATUS_SUCCESS;
    default:
      return CNNL_STATUS_BAD_PARAM;
  }
}
CNNL int cnnlMatMulAlgoCreate(cnnlMatMulAlgo_t* algo) {
  return create(algo, std::make_unique<OperatorDescriptor>(Kind::kAlgorithm),
                "cnnlMatMulAlgoCreate");
}
CNNL int cnnlMatMulAlgoDestroy(cnnlMatMulAlgo_t algo) {
  return destroy(algo, Kind::kAlgorithm, "cnnlMatMulAlgoDestroy");
}
CNNL int cnnlCreateMatMulHeuristicResult(cnnlMatMulHeuristicResult_t* result) {
  return create(result, std::make_unique<OperatorDescriptor>(Kind::kHeuristic),
                "cnnlCreateMatMulHeuristicResult");
}
CNNL int cnnlDestroyMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result) {
  return destroy(result, Kind::kHeuristic, "cnnlDestroyMatMulHeuristicResult");
}

namespace {

int choose(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
           const std::vector<cnnlTensorDescriptor_t>& tensors, size_t rank, int requested,
           cnnlMatMulHeuristicResult_t* results, int* returned, const char* function) {
  auto* const product = static_cast<OperatorDescriptor*>(find_object(desc, Kind::kMatMul));
  if (find_object(handle, Kind::kHandle) == nullptr || product == nullptr || requested != 1 ||
      results == nullptr)
    return misuse(std::string(function) + ": an object is not alive, or not one is requested");
  auto* const result = operator_descriptor(*results, Kind::kHeuristic, function);
  if (result == nullptr) return CNNL_STATUS_EXECUTION_FAILED;
  if (const int status = injected(function)) return status;
  result->shapes.clear();
  uint64_t hash = 7;
  for (const cnnlTensorDescriptor_t each : tensors) {
    auto* const tensor = static_cast<TensorDescriptor*>(find_object(each, Kind::kTensor));
    if (tensor == nullptr) return misuse(std::string(function) + ": a descriptor is not alive");
    if (tensor->sizes.size() != rank)
      return refuse(CNNL_STATUS_BAD_PARAM,
                    std::string(function) + ": not " + std::to_string(rank) + " dimensions");
    result->shapes.push_back(tensor->sizes);
    for (const int64_t size : tensor->sizes) hash = hash * 31 + static_cast<uint64_t>(size);
  }
  result->workspace = odd_size(hash);
  result->values.numbers = product->values.numbers;
  *returned = 1;
  return CNNL_STATUS_SUCCESS;
}

int take_result(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo, size_t* size,
                const char* function) {
  auto* const from = operator_descriptor(result, Kind::kHeuristic, function);
  auto* const to = operator_descriptor(algo, Kind::kAlgorithm, function);
  if (from == nullptr || to == nullptr) return CNNL_STATUS_EXECUTION_FAILED;
  to->workspace = *size = from->workspace;
  to->shapes = from->shapes;
  to->values.numbers = from->values.numbers;
  return CNNL_STATUS_SUCCESS;
}

}  // namespace

CNNL int cnnlGetMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                    cnnlTensorDescriptor_t a, cnnlTensorDescriptor_t b,
                                    cnnlTensorDescriptor_t c, cnnlTensorDescriptor_t d, void*,
                                    int requested, cnnlMatMulHeuristicResult_t* results,
                                    int* returned) {
  return choose(handle, desc, {a, b, c, d}, 2, requested, results, returned,
                "cnnlGetMatMulAlgoHeuristic");
}
CNNL int cnnlGetBatchMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                         cnnlTensorDescriptor_t a, cnnlTensorDescriptor_t b,
                                         cnnlTensorDescriptor_t c, void*, int requested,
                                         cnnlMatMulHeuristicResult_t* results, int* returned) {
  return choose(handle, desc, {a, b, c}, 3, requested, results, returned,
                "cnnlGetBatchMatMulAlgoHeuristic");
}
CNNL int cnnlGetMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                      size_t* size) {
  return take_result(result, algo, size, "cnnlGetMatMulHeuristicResult");
}
CNNL int cnnlGetBatchMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result,
                                           cnnlMatMulAlgo_t algo, size_t* size) {
  return take_result(result, algo, size, "cnnlGetBatchMatMulHeuristicResult");
}

namespace {

// The number of every algorithm that the fake chooses.
constexpr int kAlgorithm = 3;

int choose_algorithm(cnnlHandle_t handle, cnnlConvolutionDescriptor_t conv_desc,
                     const std::vector<cnnlTensorDescriptor_t>& tensors, int preference,
                     int fastest, int* algo, const char* function) {
  if (find_object(handle, Kind::kHandle) == nullptr ||
      find_object(conv_desc, Kind::kConvolution) == nullptr)
    return misuse(std::string(function) + ": an object is not alive");
  for (const cnnlTensorDescriptor_t each : tensors) {
    auto* const tensor = static_cast<TensorDescriptor*>(find_object(each, Kind::kTensor));
    if (tensor == nullptr) return misuse(std::string(function) + ": a descriptor is not alive");
    if (tensor->layout != CNNL_LAYOUT_NHWC)
      return misuse(std::string(function) + ": a tensor is not in the layout NHWC");
  }
  if (preference != fastest || algo == nullptr) return CNNL_STATUS_BAD_PARAM;
  if (const int status = injected(function)) return status;
  *algo = kAlgorithm;
  return CNNL_STATUS_SUCCESS;
}

}  // namespace

CNNL int cnnlGetConvolutionForwardAlgorithm(cnnlHandle_t handle, cnnlConvolutionDescriptor_t desc,
                                            cnnlTensorDescriptor_t x, cnnlTensorDescriptor_t w,
                                            cnnlTensorDescriptor_t y, int preference, int* algo) {
  return choose_algorithm(handle, desc, {x, w, y}, preference, CNNL_CONVOLUTION_FWD_FASTEST, algo,
                          "cnnlGetConvolutionForwardAlgorithm");
}
CNNL int cnnlGetConvolutionBackwardDataAlgorithm(cnnlHandle_t handle, cnnlTensorDescriptor_t w,
                                                 cnnlTensorDescriptor_t diff_y,
                                                 cnnlConvolutionDescriptor_t desc,
                                                 cnnlTensorDescriptor_t diff_x, int preference,
                                                 int* algo) {
  return choose_algorithm(handle, desc, {w, diff_y, diff_x}, preference,
                          CNNL_CONVOLUTION_BWD_DATA_FASTEST, algo,
                          "cnnlGetConvolutionBackwardDataAlgorithm");
}
CNNL int cnnlGetConvolutionBackwardFilterAlgorithm(
    cnnlHandle_t handle, cnnlConvolutionDescriptor_t desc, cnnlTensorDescriptor_t x,
    cnnlTensorDescriptor_t diff_y, cnnlTensorDescriptor_t diff_w, int preference, int* algo) {
  return choose_algorithm(handle, desc, {x, diff_y, diff_w}, preference,
                          CNNL_CONVOLUTION_BWD_FILTER_FASTEST, algo,
                          "cnnlGetConvolutionBackwardFilterAlgorithm");
}

// For tests: number of live objects ("tensors", "handles", "reductions", "products"), or of
// "misuses".
CNNL size_t fakeCnnlCount(const char* what) {
  const std::string name = what;
  if (name == "tensors") return count_objects(Kind::kTensor);
  if (name == "handles") return count_objects(Kind::kHandle);
  if (name == "reductions") return count_objects(Kind::kReduce);
  if (name == "products") return count_objects(Kind::kMatMul);
  return name == "misuses" ? misuses.load() : 0;
}
