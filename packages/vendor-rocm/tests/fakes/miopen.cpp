// A libMIOpen.so.1 for tests: it checks every argument against MIOpen's documentation, and
// convolves on the host with memory of the driver in DL_ROCM_DRIVER.
//
//   FAKE_MIOPEN_FAIL=NAME:3,…   what fails, with the status: a function, "attribute 1", or
//                               "compile 40"/"run 40" with the number of a solution
//   FAKE_MIOPEN_CALLS=path      log file with one line per call of some functions; a convolution is
//                               logged as "run forward 32f 2x3x5x5 * 4x3x3x3 = 2x4x3x3 strides
//                               36x9x3x1 solution 40"
//
// It has six solutions, the least precise first; one is not deterministic and is offered only if
// determinism is not requested. Invalid calls abort the process with a message.
#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "libraries/convolving.h"
#include "library/miopen_api.h"
#include "machine.h"

#pragma GCC visibility push(hidden)

namespace mi = dl::rocm::miopen;

struct dl::rocm::miopen::HandleObject {
  const void* device;
  void* stream = nullptr;
  bool has_stream = false;
  std::set<uint64_t> compiled;
};
struct dl::rocm::miopen::TensorObject {
  int type = -1;
  std::vector<int> sizes, strides;
};
struct dl::rocm::miopen::DescriptionObject {
  int axes = 0, groups = 1;
  std::vector<int> padding, strides, dilations;
  int attributes[4] = {-1, 0, 0, 0};
};

namespace fake {

using mi::Description;
using mi::Handle;
using mi::Solution;
using mi::Tensor;

constexpr int kBadParameter = 3;
const Fake checker("MIOpen", "MIOPEN");

struct Known {
  uint64_t id;
  int algorithm;
  size_t workspace;
  bool is_deterministic;
};
const Known kSolutions[] = {
    {10, mi::kWinograd, 0, true},        {20, mi::kFft, 4096, true},
    {30, mi::kDirect, 0, false},         {35, mi::kImplicitGemm, size_t{1} << 40, true},
    {40, mi::kImplicitGemm, 4096, true}, {50, mi::kGemm, 0, true},
};

// Live objects.
class Live {
 public:
  template <class Object>
  Object* add(Object* one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    objects_.insert(one);
    return one;
  }
  void remove(const void* one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    checker.require(objects_.erase(one) == 1,
                    "an object that does not exist, or was already destroyed");
  }
  bool has(const void* one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return objects_.count(one) == 1;
  }

 private:
  std::mutex mutex_;
  std::set<const void*> objects_;
};
Live& live() {
  static auto* const all = new Live;
  return *all;
}

template <class Object>
Object& here(Object* one, const char* what) {
  checker.require(live().has(one), std::string(what) + " that does not exist");
  return *one;
}

DType dtype_of(int type) {
  checker.require(
      type == mi::kFloat32 || type == mi::kFloat64 || type == mi::kFloat16 || type == mi::kBfloat16,
      "an unknown data type");
  return type == mi::kFloat32   ? DType::kFloat32
         : type == mi::kFloat64 ? DType::kFloat64
         : type == mi::kFloat16 ? DType::kFloat16
                                : DType::kBfloat16;
}

std::string text_of(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

// Returns true if the tensor is dense, with channels outside or inside the spatial axes.
bool is_dense(const mi::TensorObject& tensor, bool channels_last) {
  const auto dimensions = static_cast<int>(tensor.sizes.size());
  std::vector<int> order;
  if (channels_last) order.push_back(1);
  for (int d = dimensions - 1; d > 1; --d) order.push_back(d);
  if (!channels_last) order.push_back(1);
  order.push_back(0);
  int step = 1;
  for (const int d : order) {
    if (tensor.strides[static_cast<size_t>(d)] != step) return false;
    step *= tensor.sizes[static_cast<size_t>(d)];
  }
  return true;
}

struct Problem {
  Written written;
  const mi::TensorObject &input, &weight, &output;
  const mi::DescriptionObject& convolution;

  const mi::TensorObject& result() const {
    return written == Written::kOutput ? output : written == Written::kInput ? input : weight;
  }
  const char* name() const {
    return written == Written::kOutput  ? "forward"
           : written == Written::kInput ? "input gradient"
                                        : "weight gradient";
  }
  uint64_t digest() const {
    uint64_t hash = 1469598103934665603u;
    const auto add = [&](const std::vector<int>& parts) {
      for (const int part : parts) hash = (hash ^ static_cast<uint64_t>(part)) * 1099511628211u;
    };
    add({static_cast<int>(written), convolution.groups});
    for (const mi::TensorObject* tensor : {&input, &weight, &output}) {
      add({tensor->type});
      add(tensor->sizes);
      add(tensor->strides);
    }
    for (const auto* values : {&convolution.padding, &convolution.strides, &convolution.dilations})
      add(*values);
    return hash;
  }

  // In the argument order of the functions: the inputs, then the result.
  static Problem of(Written written, Tensor first, Tensor second, Description convolution,
                    Tensor result) {
    const mi::TensorObject &a = here(first, "a tensor"), &b = here(second, "a tensor");
    const mi::TensorObject& to = here(result, "a tensor");
    const mi::DescriptionObject& how = here(convolution, "a convolution");
    const Problem made = written == Written::kOutput  ? Problem{written, b, a, to, how}
                         : written == Written::kInput ? Problem{written, to, b, a, how}
                                                      : Problem{written, b, to, a, how};
    made.check();
    return made;
  }

  void check() const {
    const auto axes = static_cast<size_t>(convolution.axes);
    checker.require(axes == 2 || axes == 3, "a convolution without attributes");
    for (const mi::TensorObject* tensor : {&input, &weight, &output}) {
      checker.require(tensor->sizes.size() == axes + 2, "an invalid number of dimensions");
      checker.require(tensor->type == input.type, "different dtypes");
    }
    const bool first = is_dense(input, false) && is_dense(weight, false) && is_dense(output, false);
    const bool last = is_dense(input, true) && is_dense(weight, true) && is_dense(output, true);
    checker.require(first || last, "tensors with different layouts");
    checker.require(input.sizes[0] == output.sizes[0] && weight.sizes[0] == output.sizes[1],
                    "sizes that do not match");
    checker.require(weight.sizes[1] * convolution.groups == input.sizes[1] &&
                        weight.sizes[0] % convolution.groups == 0,
                    "groups that do not match");
    for (size_t i = 0; i < axes; ++i) {
      const int window = convolution.dilations[i] * (weight.sizes[i + 2] - 1) + 1;
      const int room = input.sizes[i + 2] + 2 * convolution.padding[i] - window;
      checker.require(room >= 0 && output.sizes[i + 2] == room / convolution.strides[i] + 1,
                      "a wrong number of windows");
    }
  }
};

std::vector<Known> solutions_of(const Problem& problem) {
  std::vector<Known> found;
  for (const Known& one : kSolutions) {
    if (one.is_deterministic || problem.convolution.attributes[mi::kDeterministic] == 0)
      found.push_back(one);
  }
  return found;
}

Handle handle_here(Handle handle) {
  (void)here(handle, "a handle");
  checker.require(handle->device == Machine::current(), "the handle belongs to another device");
  return handle;
}

int count(Handle handle, const Problem& problem, size_t* to) {
  handle_here(handle);
  checker.log_call(std::string("count ") + problem.name());
  if (const int status = checker.injected_status("count")) return status;
  *to = solutions_of(problem).size() + 2;  // an upper bound
  return mi::kSuccess;
}

int solutions(Handle handle, const Problem& problem, size_t room, size_t* count, Solution* to) {
  handle_here(handle);
  if (const int status = checker.injected_status("solutions")) return status;
  *count = 0;
  for (const Known& one : solutions_of(problem)) {
    if (*count == room) break;
    to[*count] = {static_cast<float>(one.id), one.workspace, one.id, one.algorithm};
    ++*count;
  }
  return mi::kSuccess;
}

int compile(Handle handle, const Problem& problem, uint64_t id) {
  handle_here(handle);
  const std::string name = "compile " + std::to_string(id);
  checker.log_call(name);
  if (const int status = checker.injected_status(name)) return status;
  handle->compiled.insert(problem.digest() ^ id);
  return mi::kSuccess;
}

int run(Handle given, const Problem& problem, const void* x, const void* w, const void* y,
        void* workspace, size_t workspace_bytes, uint64_t id) {
  const Handle handle = handle_here(given);
  checker.require(handle->has_stream, "a handle without a stream");
  const std::string name = "run " + std::to_string(id);
  if (const int status = checker.injected_status(name)) {
    checker.log_call("failed");
    return status;
  }
  checker.require(handle->compiled.count(problem.digest() ^ id) == 1,
                  "a solution that is not compiled for this convolution");
  const auto* const known = std::find_if(std::begin(kSolutions), std::end(kSolutions),
                                         [&](const Known& one) { return one.id == id; });
  checker.require(known != std::end(kSolutions), "an unknown solution");
  checker.require(workspace_bytes >= known->workspace, "too little workspace");
  if (known->workspace > 0) {
    checker.require(workspace != nullptr && reinterpret_cast<uintptr_t>(workspace) % 16 == 0,
                    "no workspace");
    Machine::fill(workspace, known->workspace, handle->stream);
  }
  const auto operand = [&](const mi::TensorObject& tensor) {
    return Operand(dtype_of(tensor.type), tensor.sizes, tensor.strides);
  };
  Convolving work{problem.written, operand(problem.input), operand(problem.weight),
                  operand(problem.output)};
  Convolving::set(work.stride, problem.convolution.strides);
  Convolving::set(work.dilation, problem.convolution.dilations);
  Convolving::set(work.before, problem.convolution.padding);
  // If an imprecise solution is run after all, the result shows it.
  work.rounds = known->algorithm == mi::kWinograd || known->algorithm == mi::kFft;
  std::vector<char> memory[3];
  Operand* const operands[] = {&work.input, &work.weight, &work.output};
  const void* const places[] = {x, w, y};
  for (int i = 0; i < 3; ++i) {
    checker.require(places[i] != nullptr, "a tensor that is NULL");
    memory[i] = Machine::read(places[i], operands[i]->bytes, handle->stream);
    operands[i]->host = memory[i].data();
  }
  work.run();
  for (int i = 0; i < 3; ++i) {
    if (operands[i] == &work.result())
      Machine::write(const_cast<void*>(places[i]), memory[i], handle->stream);
  }
  checker.log_call("run " + (problem.name() + (" " + std::string(name_of(work.input.type)))) + " " +
                   text_of(problem.input.sizes) + " * " + text_of(problem.weight.sizes) + " = " +
                   text_of(problem.output.sizes) + " strides " + text_of(problem.result().strides) +
                   " solution " + std::to_string(id));
  return mi::kSuccess;
}

}  // namespace fake

#pragma GCC visibility pop

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int status = fake::checker.injected_status(#function)) return status

FAKE const char* miopenGetErrorString(int status) {
  return status == mi::kSuccess       ? "miopenStatusSuccess"
         : status == mi::kUnsupported ? "miopenStatusUnsupportedOp"
                                      : "miopenStatusOfTheFake";
}

FAKE int miopenCreate(fake::Handle* made) {
  fake::checker.log_call("miopenCreate");
  ENTER(miopenCreate);
  *made = fake::live().add(new mi::HandleObject{fake::Machine::current(), nullptr, false, {}});
  return mi::kSuccess;
}
FAKE int miopenSetStream(fake::Handle handle, void* stream) {
  fake::handle_here(handle)->stream = stream;
  handle->has_stream = true;
  return mi::kSuccess;
}

FAKE int miopenCreateTensorDescriptor(fake::Tensor* made) {
  *made = fake::live().add(new mi::TensorObject);
  return mi::kSuccess;
}
FAKE int miopenDestroyTensorDescriptor(fake::Tensor one) {
  fake::live().remove(one);
  delete one;
  return mi::kSuccess;
}
FAKE int miopenSetTensorDescriptor(fake::Tensor one, int type, int dimensions, int* sizes,
                                   int* strides) {
  mi::TensorObject& self = fake::here(one, "a tensor");
  (void)fake::dtype_of(type);
  fake::checker.require(dimensions == 4 || dimensions == 5, "an invalid number of dimensions");
  self = {type, {sizes, sizes + dimensions}, {strides, strides + dimensions}};
  for (int d = 0; d < dimensions; ++d)
    fake::checker.require(sizes[d] > 0 && strides[d] > 0, "an empty or expanded tensor");
  return mi::kSuccess;
}

FAKE int miopenCreateConvolutionDescriptor(fake::Description* made) {
  ENTER(miopenCreateConvolutionDescriptor);
  *made = fake::live().add(new mi::DescriptionObject);
  return mi::kSuccess;
}
FAKE int miopenDestroyConvolutionDescriptor(fake::Description one) {
  fake::live().remove(one);
  delete one;
  return mi::kSuccess;
}
FAKE int miopenInitConvolutionNdDescriptor(fake::Description one, int axes, int* padding,
                                           int* strides, int* dilations, int mode) {
  mi::DescriptionObject& self = fake::here(one, "a convolution");
  fake::checker.require(axes == 2 || axes == 3, "an invalid number of axes");
  fake::checker.require(mode == mi::kCrossCorrelation, "an unknown mode");
  for (int i = 0; i < axes; ++i)
    fake::checker.require(padding[i] >= 0 && strides[i] > 0 && dilations[i] > 0,
                          "an invalid padding, stride or dilation");
  self.axes = axes;
  self.padding.assign(padding, padding + axes);
  self.strides.assign(strides, strides + axes);
  self.dilations.assign(dilations, dilations + axes);
  return mi::kSuccess;
}
FAKE int miopenSetConvolutionGroupCount(fake::Description one, int groups) {
  fake::checker.require(groups > 0, "no groups");
  fake::here(one, "a convolution").groups = groups;
  return mi::kSuccess;
}
FAKE int miopenSetConvolutionAttribute(fake::Description one, int attribute, int value) {
  if (const int status = fake::checker.injected_status("attribute " + std::to_string(attribute)))
    return status;
  if (attribute < 0 || attribute > 3 || attribute == 2) return fake::kBadParameter;
  fake::here(one, "a convolution").attributes[attribute] = value;
  return mi::kSuccess;
}

// The functions of a direction; the data arguments x, w and y are named in its order.
#define DIRECTION(name, written, first_data, second_data, result_data)                            \
  FAKE int name##GetSolutionCount(fake::Handle handle, fake::Tensor first, fake::Tensor second,   \
                                  fake::Description convolution, fake::Tensor result,             \
                                  size_t* to) {                                                   \
    return fake::count(                                                                           \
        handle, fake::Problem::of(fake::Written::written, first, second, convolution, result),    \
        to);                                                                                      \
  }                                                                                               \
  FAKE int name##GetSolution(fake::Handle handle, fake::Tensor first, fake::Tensor second,        \
                             fake::Description convolution, fake::Tensor result, size_t room,     \
                             size_t* count, fake::Solution* to) {                                 \
    return fake::solutions(                                                                       \
        handle, fake::Problem::of(fake::Written::written, first, second, convolution, result),    \
        room, count, to);                                                                         \
  }                                                                                               \
  FAKE int name##CompileSolution(fake::Handle handle, fake::Tensor first, fake::Tensor second,    \
                                 fake::Description convolution, fake::Tensor result,              \
                                 uint64_t id) {                                                   \
    return fake::compile(                                                                         \
        handle, fake::Problem::of(fake::Written::written, first, second, convolution, result),    \
        id);                                                                                      \
  }                                                                                               \
  FAKE int name##Immediate(fake::Handle handle, fake::Tensor first, const void* first_data,       \
                           fake::Tensor second, const void* second_data,                          \
                           fake::Description convolution, fake::Tensor result, void* result_data, \
                           void* workspace, size_t workspace_bytes, uint64_t id) {                \
    return fake::run(                                                                             \
        handle, fake::Problem::of(fake::Written::written, first, second, convolution, result), x, \
        w, y, workspace, workspace_bytes, id);                                                    \
  }

DIRECTION(miopenConvolutionForward, kOutput, w, x, y)
DIRECTION(miopenConvolutionBackwardData, kInput, y, w, x)
DIRECTION(miopenConvolutionBackwardWeights, kWeight, y, x, w)
