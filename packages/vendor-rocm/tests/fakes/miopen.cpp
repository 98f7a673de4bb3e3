// A libMIOpen.so.1 for tests: it judges every argument as MIOpen's documentation has it, and
// convolves on the host with memory that the driver of DL_ROCM_DRIVER holds.
//
//   FAKE_MIOPEN_FAIL=NAME:3,…   what fails, and how: a function, "attribute 1", or
//                               "compile 40"/"run 40", with the number of a solution
//   FAKE_MIOPEN_CALLS=path      a file that gets a line for every call of some functions; of a
//                               convolution: "run forward 32f 2x3x5x5 * 4x3x3x3 = 2x4x3x3
//                               strides 36x9x3x1 solution 40"
//
// It has six solutions, the most careless first; one of them is not deterministic, and known only
// where nothing forbids it. What must not be said to MIOpen ends the process with a message.
#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "fake_libraries/convolving.h"
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
const Fake judge("MIOpen", "MIOPEN");

struct Known {
  uint64_t id;
  int algorithm;
  size_t workspace;
  bool is_deterministic;
};
const Known kSolutions[] = {
    {10, mi::kWinograd, 0, true},
    {20, mi::kFft, 4096, true},
    {30, mi::kDirect, 0, false},
    {35, mi::kImplicitProduct, size_t{1} << 40, true},
    {40, mi::kImplicitProduct, 4096, true},
    {50, mi::kByProduct, 0, true},
};

// What was made and not dropped.
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
    judge.require(objects_.erase(one) == 1, "what is dropped was not made, or is dropped already");
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
  judge.require(live().has(one), std::string(what) + " that is not there");
  return *one;
}

Number number_of(int type) {
  judge.require(
      type == mi::kFloat32 || type == mi::kFloat64 || type == mi::kFloat16 || type == mi::kBfloat16,
      "a data type that it does not know");
  return type == mi::kFloat32   ? Number::kFloat32
         : type == mi::kFloat64 ? Number::kFloat64
         : type == mi::kFloat16 ? Number::kFloat16
                                : Number::kBfloat16;
}

std::string text_of(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

// Dense with channels around positions, or inside them.
bool lies_densely(const mi::TensorObject& tensor, bool channels_last) {
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

  // In the order of the functions: what is read, then what is written.
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
    judge.require(axes == 2 || axes == 3, "a convolution that was not described");
    for (const mi::TensorObject* tensor : {&input, &weight, &output}) {
      judge.require(tensor->sizes.size() == axes + 2, "so many dimensions");
      judge.require(tensor->type == input.type, "dtypes that differ");
    }
    const bool first =
        lies_densely(input, false) && lies_densely(weight, false) && lies_densely(output, false);
    const bool last =
        lies_densely(input, true) && lies_densely(weight, true) && lies_densely(output, true);
    judge.require(first || last, "tensors that do not lie alike");
    judge.require(input.sizes[0] == output.sizes[0] && weight.sizes[0] == output.sizes[1],
                  "sizes that do not fit");
    judge.require(weight.sizes[1] * convolution.groups == input.sizes[1] &&
                      weight.sizes[0] % convolution.groups == 0,
                  "groups that do not fit");
    for (size_t i = 0; i < axes; ++i) {
      const int window = convolution.dilations[i] * (weight.sizes[i + 2] - 1) + 1;
      const int room = input.sizes[i + 2] + 2 * convolution.padding[i] - window;
      judge.require(room >= 0 && output.sizes[i + 2] == room / convolution.strides[i] + 1,
                    "not as many windows as there is room for");
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
  judge.require(handle->device == Machine::current(), "the handle is another device's");
  return handle;
}

int count(Handle handle, const Problem& problem, size_t* to) {
  handle_here(handle);
  judge.note(std::string("count ") + problem.name());
  if (const int status = judge.told_to_fail("count")) return status;
  *to = solutions_of(problem).size() + 2;  // at most
  return mi::kSuccess;
}

int solutions(Handle handle, const Problem& problem, size_t room, size_t* count, Solution* to) {
  handle_here(handle);
  if (const int status = judge.told_to_fail("solutions")) return status;
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
  judge.note(name);
  if (const int status = judge.told_to_fail(name)) return status;
  handle->compiled.insert(problem.digest() ^ id);
  return mi::kSuccess;
}

int run(Handle given, const Problem& problem, const void* x, const void* w, const void* y,
        void* workspace, size_t workspace_bytes, uint64_t id) {
  const Handle handle = handle_here(given);
  judge.require(handle->has_stream, "a handle without a stream");
  const std::string name = "run " + std::to_string(id);
  if (const int status = judge.told_to_fail(name)) {
    judge.note("failed");
    return status;
  }
  judge.require(handle->compiled.count(problem.digest() ^ id) == 1,
                "a solution that is not compiled for this convolution");
  const auto* const known = std::find_if(std::begin(kSolutions), std::end(kSolutions),
                                         [&](const Known& one) { return one.id == id; });
  judge.require(known != std::end(kSolutions), "a solution that it does not know");
  judge.require(workspace_bytes >= known->workspace, "too little workspace");
  if (known->workspace > 0) {
    judge.require(workspace != nullptr && reinterpret_cast<uintptr_t>(workspace) % 16 == 0,
                  "no workspace");
    Machine::fill(workspace, known->workspace, handle->stream);
  }
  const auto operand = [&](const mi::TensorObject& tensor) {
    return Operand(number_of(tensor.type), tensor.sizes, tensor.strides);
  };
  Convolving work{problem.written, operand(problem.input), operand(problem.weight),
                  operand(problem.output)};
  Convolving::set(work.stride, problem.convolution.strides);
  Convolving::set(work.dilation, problem.convolution.dilations);
  Convolving::set(work.before, problem.convolution.padding);
  // Where one that is not exact is run after all, its results show it.
  work.rounds = known->algorithm == mi::kWinograd || known->algorithm == mi::kFft;
  std::vector<char> memory[3];
  Operand* const operands[] = {&work.input, &work.weight, &work.output};
  const void* const places[] = {x, w, y};
  for (int i = 0; i < 3; ++i) {
    judge.require(places[i] != nullptr, "a tensor that is NULL");
    memory[i] = Machine::read(places[i], operands[i]->bytes, handle->stream);
    operands[i]->host = memory[i].data();
  }
  work.run();
  for (int i = 0; i < 3; ++i) {
    if (operands[i] == &work.result())
      Machine::write(const_cast<void*>(places[i]), memory[i], handle->stream);
  }
  judge.note("run " + (problem.name() + (" " + std::string(name_of(work.input.type)))) + " " +
             text_of(problem.input.sizes) + " * " + text_of(problem.weight.sizes) + " = " +
             text_of(problem.output.sizes) + " strides " + text_of(problem.result().strides) +
             " solution " + std::to_string(id));
  return mi::kSuccess;
}

}  // namespace fake

#pragma GCC visibility pop

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int status = fake::judge.told_to_fail(#function)) return status

FAKE const char* miopenGetErrorString(int status) {
  return status == mi::kSuccess       ? "miopenStatusSuccess"
         : status == mi::kUnsupported ? "miopenStatusUnsupportedOp"
                                      : "miopenStatusOfTheFake";
}

FAKE int miopenCreate(fake::Handle* made) {
  fake::judge.note("miopenCreate");
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
  (void)fake::number_of(type);
  fake::judge.require(dimensions == 4 || dimensions == 5, "so many dimensions");
  self = {type, {sizes, sizes + dimensions}, {strides, strides + dimensions}};
  for (int d = 0; d < dimensions; ++d)
    fake::judge.require(sizes[d] > 0 && strides[d] > 0, "an empty tensor, or one that is expanded");
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
  fake::judge.require(axes == 2 || axes == 3, "so many axes");
  fake::judge.require(mode == mi::kCrossCorrelation, "a mode that it does not know");
  for (int i = 0; i < axes; ++i)
    fake::judge.require(padding[i] >= 0 && strides[i] > 0 && dilations[i] > 0,
                        "a padding, stride or dilation below what there can be");
  self.axes = axes;
  self.padding.assign(padding, padding + axes);
  self.strides.assign(strides, strides + axes);
  self.dilations.assign(dilations, dilations + axes);
  return mi::kSuccess;
}
FAKE int miopenSetConvolutionGroupCount(fake::Description one, int groups) {
  fake::judge.require(groups > 0, "no groups");
  fake::here(one, "a convolution").groups = groups;
  return mi::kSuccess;
}
FAKE int miopenSetConvolutionAttribute(fake::Description one, int attribute, int value) {
  if (const int status = fake::judge.told_to_fail("attribute " + std::to_string(attribute)))
    return status;
  if (attribute < 0 || attribute > 3 || attribute == 2) return fake::kBadParameter;
  fake::here(one, "a convolution").attributes[attribute] = value;
  return mi::kSuccess;
}

// A direction's functions; its data are named x, w and y in the order that it has them.
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
