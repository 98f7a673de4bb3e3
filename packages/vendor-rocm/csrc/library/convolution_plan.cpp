#include "library/convolution_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "diopi/types.gen.h"
#include "dl/kit/library_calls.h"

namespace dl::rocm::miopen {
namespace {

using kit::Convolution;
using kit::Direction;
using kit::Images;

constexpr size_t kMostWorkspace = size_t{256} << 20;
constexpr size_t kMostSolutions = 64;

// Returns true if results are sums of products in the accumulation type of our own kernels. FFT and
// Winograd transforms have a different error: it is small relative to the largest element, not
// relative to each element.
bool is_precise(int algorithm) {
  return algorithm == kGemm || algorithm == kDirect || algorithm == kImplicitGemm;
}

// The functions of one direction.
struct Functions {
  decltype(Library::forward_count)& count;
  decltype(Library::forward_solutions)& solutions;
  decltype(Library::forward_compile)& compile;
  decltype(Library::forward_run)& run;
};
Functions functions_of(Direction direction) {
  Library& all = *library();
  switch (direction) {
    case Direction::kForward:
      return {all.forward_count, all.forward_solutions, all.forward_compile, all.forward_run};
    case Direction::kInputGradient:
      return {all.input_gradient_count, all.input_gradient_solutions, all.input_gradient_compile,
              all.input_gradient_run};
    default:
      return {all.weight_gradient_count, all.weight_gradient_solutions, all.weight_gradient_compile,
              all.weight_gradient_run};
  }
}

// The tensors in the argument order of a direction's functions: the inputs, then the result.
struct Order {
  const Images *first, *second, *result;
};
Order order_of(const Convolution& call) {
  switch (call.direction) {
    case Direction::kForward:
      return {&call.weight, &call.input, &call.output};
    case Direction::kInputGradient:
      return {&call.output, &call.weight, &call.input};
    default:
      return {&call.output, &call.input, &call.weight};
  }
}

// MIOpen pads both sides equally and computes as many windows as fit.
bool has_all_windows(const Convolution& call) {
  for (int axis = 0; axis < call.axes; ++axis) {
    const int64_t padded = call.input.sizes[2 + axis] + 2 * call.before[axis];
    const int64_t window = call.dilation[axis] * (call.weight.sizes[2 + axis] - 1) + 1;
    if (padded < window || (padded - window) / call.stride[axis] + 1 != call.output.sizes[2 + axis])
      return false;
  }
  return true;
}

// MIOpen uses int for sizes.
bool narrow(const int64_t* from, int count, int (&to)[5]) {
  for (int i = 0; i < count; ++i) {
    if (from[i] > INT32_MAX) return false;
    to[i] = static_cast<int>(from[i]);
  }
  return true;
}

// Owner of a tensor descriptor.
class TensorDescriptor {
 public:
  TensorDescriptor() = default;
  ~TensorDescriptor() {
    if (object_ != nullptr) (void)library()->tensor_destroy(object_);
  }
  TensorDescriptor(const TensorDescriptor&) = delete;
  TensorDescriptor& operator=(const TensorDescriptor&) = delete;

  Tensor get() const { return object_; }
  bool describe(const Images& images, int dimensions) {
    int sizes[5], strides[5];
    return narrow(images.sizes, dimensions, sizes) && narrow(images.strides, dimensions, strides) &&
           library()->tensor_create(&object_) == kSuccess &&
           library()->tensor_set(object_, type_of(images.dtype), dimensions, sizes, strides) ==
               kSuccess;
  }

 private:
  Tensor object_ = nullptr;
};

// Owner of a convolution descriptor.
class ConvolutionDescriptor {
 public:
  ConvolutionDescriptor() = default;
  ~ConvolutionDescriptor() {
    if (object_ != nullptr) (void)library()->description_destroy(object_);
  }
  ConvolutionDescriptor(const ConvolutionDescriptor&) = delete;
  ConvolutionDescriptor& operator=(const ConvolutionDescriptor&) = delete;

  Description get() const { return object_; }
  bool describe(const Convolution& call) {
    Library& all = *library();
    const auto groups = static_cast<int>(call.input.sizes[1] / call.weight.sizes[1]);
    int padding[5], strides[5], dilations[5];
    if (!narrow(call.before, call.axes, padding) || !narrow(call.stride, call.axes, strides) ||
        !narrow(call.dilation, call.axes, dilations) ||
        all.description_create(&object_) != kSuccess)
      return false;
    if (all.description_set(object_, call.axes, padding, strides, dilations, kCrossCorrelation) !=
            kSuccess ||
        all.set_groups(object_, groups) != kSuccess ||
        // Required: otherwise we cannot know which solutions are nondeterministic.
        all.set_attribute(object_, kDeterministic, 1) != kSuccess)
      return false;
    // Otherwise MI200 multiplies float16 as bfloat16 in gradients.
    if (call.weight.dtype == diopi_dtype_float16 &&
        all.set_attribute(object_, kFp16Alternative, 0) != kSuccess)
      return false;
    // May fail: releases without this attribute have no mode of lower precision to disable.
    (void)all.set_attribute(object_, kMathMode, kPedantic);
    return true;
  }

 private:
  Description object_ = nullptr;
};

}  // namespace

struct Plan::Problem {
  TensorDescriptor first, second, result;
  ConvolutionDescriptor convolution;

  bool describe(const Convolution& call) {
    const Order order = order_of(call);
    const int dimensions = call.dimensions();
    return first.describe(*order.first, dimensions) && second.describe(*order.second, dimensions) &&
           result.describe(*order.result, dimensions) && convolution.describe(call);
  }
};

Plan Plan::make(Handle handle, const Convolution& call) {
  if (!has_all_windows(call)) return {};
  auto problem = std::make_shared<Problem>();
  if (!problem->describe(call)) return {};
  const Functions ask = functions_of(call.direction);
  const Tensor first = problem->first.get(), second = problem->second.get();
  const Tensor result = problem->result.get();
  const Description convolution = problem->convolution.get();
  size_t count = 0;  // an upper bound until the second query
  if (ask.count(handle, first, second, convolution, result, &count) != kSuccess || count == 0)
    return {};
  std::vector<Solution> solutions(std::min(count, kMostSolutions));
  const size_t room = solutions.size();
  if (ask.solutions(handle, first, second, convolution, result, room, &count, solutions.data()) !=
      kSuccess)
    return {};
  solutions.resize(std::min(count, room));
  for (const Solution& one : solutions) {
    if (!is_precise(one.algorithm) || one.workspace > kMostWorkspace ||
        ask.compile(handle, first, second, convolution, result, one.id) != kSuccess)
      continue;
    Plan made;
    made.problem_ = std::move(problem);
    made.solution_ = one.id;
    made.workspace_ = one.workspace;
    return made;
  }
  return {};
}

bool Plan::run(Handle handle, const Convolution& call) const {
  const auto check = [](int status, const char* function) {
    kit::check_convolution(*library(), status, function, "MIOpen", "DL_ROCM_LIBRARIES");
  };
  check(library()->set_stream(handle, call.stream), "miopenSetStream");
  void* const workspace =
      workspace_ == 0 ? nullptr : call.workspace(static_cast<int64_t>(workspace_));
  if (call.prepare) call.prepare();
  const Order order = order_of(call);
  const int status =
      functions_of(call.direction)
          .run(handle, problem_->first.get(), order.first->data, problem_->second.get(),
               order.second->data, problem_->convolution.get(), problem_->result.get(),
               const_cast<void*>(order.result->data), workspace, workspace_, solution_);
  // The next call may succeed in allocating memory.
  if (status == kAllocationFailed) return false;
  declined_ = status == kNotImplemented || status == kUnsupported;
  if (!declined_) check(status, "miopenConvolution…Immediate");
  return !declined_;
}

int type_of(int dtype) {
  return kit::library_dtype(dtype, {kFloat32, kFloat64, kFloat16, kBfloat16});
}

}  // namespace dl::rocm::miopen
