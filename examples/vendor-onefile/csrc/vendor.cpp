// A vendor in one file.
//
// The device has a driver in the shape of CUDA's runtime (`sim.h`) and memory that the host cannot
// read. Six operators on float32 run on the device; torch runs all others on the CPU and copies
// their operands. Any vendor on dl-vendor-kit takes the steps below.
#include <algorithm>

#include "dl/kit/cuda_shaped.h"
#include "dl/kit/operators.h"
#include "dl/kit/runtime.h"
#include "dl/kit/tensor.h"
#include "dl/kit/workspace.h"
#include "sim.h"

namespace {

namespace kit = dl::kit;

// Step 1: the driver.
//
// kit::Library opens the driver's library when it is first needed, so that the wheel can be
// installed on machines without the device. The names are tried in turn: here, first the library
// next to the vendor, then the one on the loader's path.
struct Driver : kit::Library {
  Driver() : Library({kit::own_folder() + "/libsim.so.1", "libsim.so.1"}) {}

  // Looks up simMalloc, simMemcpyAsync, ... under the names that kit::Runtime expects.
  DL_KIT_CUDA_SHAPED(DL_KIT_SYMBOL_AS, sim)

  // Further functions that this vendor calls.
  DL_KIT_SYMBOL(simGetName);
  DL_KIT_SYMBOL(simLaunch);

  // Describes a device: its name, and the dtypes that its operators compute in.
  Result properties(int device, dl_device_properties_t* properties) {
    properties->dtype_mask = uint64_t{1} << diopi_dtype_float32;
    return simGetName(properties->name, sizeof properties->name, device);
  }
};

// Step 2: the vendor.
//
// kit::Runtime fills the contract's vendor table from the driver: devices, memory, copies, streams
// and events. What remains are the vendor's name, its version and its operators.
struct Vendor : kit::Runtime<Driver> {
  static constexpr const char* kName = "onefile";
  static constexpr const char* kVersion = "0.1.0";
  kit::Operators operators();
};

// Step 3: a kernel.
//
// One elementwise kernel serves all six operators: it computes
// `output = function(output, left, right, alpha)` for each index of an iteration space, to whose
// shape each operand is broadcast. A dimension with a stride of 0 repeats its elements.
constexpr int64_t kMaxDimensions = 8;

struct Operand {
  const void* data;
  size_t bytes;                     // from the first element to the end of the last one
  int64_t strides[kMaxDimensions];  // in elements, for the dimensions of the iteration space
};

struct Arguments {
  float (*function)(float output, float left, float right, float alpha);
  float alpha;
  int64_t element_count;
  int64_t dimension_count;
  int64_t sizes[kMaxDimensions];
  Operand output;
  Operand left;
  Operand right;
};

// Runs on the device. Device memory is accessible only there, and only through `translate`, which
// returns NULL and fails the launch for an address that the device does not own.
void elementwise_kernel(const void* argument_data, simMemory_t translate) {
  const Arguments& arguments = *static_cast<const Arguments*>(argument_data);
  const auto address = [&](const Operand& operand) {
    return static_cast<float*>(translate(operand.data, operand.bytes));
  };
  float* output = address(arguments.output);
  const float* left = address(arguments.left);
  const float* right = address(arguments.right);
  if (output == nullptr || left == nullptr || right == nullptr) return;

  for (int64_t index = 0; index < arguments.element_count; ++index) {
    // Split the linear index into coordinates, the last dimension first.
    int64_t output_offset = 0;
    int64_t left_offset = 0;
    int64_t right_offset = 0;
    int64_t remainder = index;
    for (int64_t dimension = arguments.dimension_count - 1; dimension >= 0; --dimension) {
      const int64_t coordinate = remainder % arguments.sizes[dimension];
      remainder /= arguments.sizes[dimension];
      output_offset += coordinate * arguments.output.strides[dimension];
      left_offset += coordinate * arguments.left.strides[dimension];
      right_offset += coordinate * arguments.right.strides[dimension];
    }
    output[output_offset] = arguments.function(output[output_offset], left[left_offset],
                                               right[right_offset], arguments.alpha);
  }
}

// Step 4: a launch.
//
// An operator enqueues its work on the stream of its context and returns without waiting. `check`
// throws the driver's message for a failure, which the host raises as an exception.
diopiError_t launch(diopiContextHandle_t context, const Arguments& arguments) {
  if (arguments.element_count == 0) return diopiSuccess;
  auto& vendor = kit::vendor_of<Vendor>(context);
  const simStream_t stream = vendor.stream_of(context);
  vendor.check(vendor.api().simLaunch(elementwise_kernel, &arguments, sizeof arguments, stream),
               "simLaunch");
  return diopiSuccess;
}

// Step 5: tensors.
//
// A handle of the host leads to the tensor's dtype, sizes, strides and address. With
// DL_NOT_SUPPORTED an operator declines a call, which the host then runs on the CPU.
const dl_tensor_prefix_t& float_tensor(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t& tensor = kit::tensor_of(handle);
  if (tensor.dtype != diopi_dtype_float32 || tensor.ndim > kMaxDimensions)
    throw kit::Error(DL_NOT_SUPPORTED, "only float32 of up to 8 dimensions is computed here");
  return tensor;
}

// Returns a tensor as an operand of an iteration space. Throws if it does not broadcast to that.
Operand broadcast_operand(diopiConstTensorHandle_t handle, const Arguments& arguments) {
  const dl_tensor_prefix_t& tensor = float_tensor(handle);
  Operand operand{};
  operand.data = tensor.data;
  operand.bytes = kit::reach(tensor, sizeof(float));
  kit::broadcast_strides(tensor, arguments.sizes, arguments.dimension_count, operand.strides);
  return operand;
}

// Computes one function of two operands in the shape of the output.
diopiError_t compute_elementwise(diopiContextHandle_t context, diopiTensorHandle_t output,
                                 diopiConstTensorHandle_t left, diopiConstTensorHandle_t right,
                                 decltype(Arguments::function) function, float alpha = 1) {
  const dl_tensor_prefix_t& result = float_tensor(output);
  Arguments arguments{};
  arguments.function = function;
  arguments.alpha = alpha;
  arguments.element_count = result.numel;
  arguments.dimension_count = result.ndim;
  std::copy_n(result.sizes, result.ndim, arguments.sizes);
  arguments.output = broadcast_operand(output, arguments);
  arguments.left = broadcast_operand(left, arguments);
  arguments.right = broadcast_operand(right, arguments);
  return launch(context, arguments);
}

// Step 6: the operators.
//
// Names and signatures come from the contract (diopi/functions.h). The host has checked the
// arguments and allocated the outputs.
namespace operators {

diopiError_t diopiAdd(diopiContextHandle_t context, diopiTensorHandle_t output,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  const auto add = [](float, float left, float right, float scale) { return left + scale * right; };
  return compute_elementwise(context, output, input, other, add, kit::number_of<float>(alpha));
}

diopiError_t diopiMul(diopiContextHandle_t context, diopiTensorHandle_t output,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  const auto multiply = [](float, float left, float right, float) { return left * right; };
  return compute_elementwise(context, output, input, other, multiply);
}

diopiError_t diopiNeg(diopiContextHandle_t context, diopiTensorHandle_t output,
                      diopiConstTensorHandle_t input) {
  const auto negate = [](float, float value, float, float) { return -value; };
  return compute_elementwise(context, output, input, input, negate);
}

diopiError_t diopiRelu(diopiContextHandle_t context, diopiTensorHandle_t output,
                       diopiConstTensorHandle_t input) {
  // NaN is not less than 0, so that it stays NaN.
  const auto relu = [](float, float value, float, float) { return value < 0 ? 0 : value; };
  return compute_elementwise(context, output, input, input, relu);
}

// Copies between layouts on the device, as `contiguous` needs it.
diopiError_t diopiCopyInp(diopiContextHandle_t context, diopiConstTensorHandle_t source,
                          diopiTensorHandle_t destination) {
  const auto copy = [](float, float value, float, float) { return value; };
  return compute_elementwise(context, destination, source, source, copy);
}

// The matrix product of (rows, inner) and (inner, columns). Its sums are accumulated in a
// workspace, which the host allocates and reuses, because the output may have any strides.
diopiError_t diopiMm(diopiContextHandle_t context, diopiTensorHandle_t output,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  const dl_tensor_prefix_t& left = float_tensor(input);
  const dl_tensor_prefix_t& right = float_tensor(other);
  const int64_t rows = left.sizes[0];
  const int64_t inner = left.sizes[1];
  const int64_t columns = right.sizes[1];
  const size_t sum_bytes = static_cast<size_t>(rows * columns) * sizeof(float);
  const Operand sums{kit::workspace(context, sum_bytes), sum_bytes, {columns, 1}};

  // Begin with zeros.
  auto& vendor = kit::vendor_of<Vendor>(context);
  vendor.memory_set(0, const_cast<void*>(sums.data), 0, sum_bytes, dl_context_stream(context));

  // Add the products, in the iteration space (rows, columns, inner). A stride of 0 repeats each
  // operand along the dimension that it does not have.
  Arguments accumulation{};
  accumulation.function = [](float sum, float x, float y, float) { return sum + x * y; };
  accumulation.element_count = rows * columns * inner;
  accumulation.dimension_count = 3;
  accumulation.sizes[0] = rows;
  accumulation.sizes[1] = columns;
  accumulation.sizes[2] = inner;
  accumulation.output = sums;
  accumulation.left = {
      left.data, kit::reach(left, sizeof(float)), {left.strides[0], 0, left.strides[1]}};
  accumulation.right = {
      right.data, kit::reach(right, sizeof(float)), {0, right.strides[1], right.strides[0]}};
  launch(context, accumulation);

  // Copy the sums to the output.
  Arguments copy{};
  copy.function = [](float, float sum, float, float) { return sum; };
  copy.element_count = rows * columns;
  copy.dimension_count = 2;
  copy.sizes[0] = rows;
  copy.sizes[1] = columns;
  copy.output = broadcast_operand(output, copy);
  copy.left = sums;
  copy.right = sums;
  return launch(context, copy);
}

}  // namespace operators

// Step 7: the table.
//
// Lists the operators. The macro makes the operator's device the current one before a call, turns
// exceptions into error codes, and records the signature that the function was compiled for.
const dl_operator_t kOperators[] = {
    DL_KIT_OPERATOR(Vendor, operators, diopiAdd),     DL_KIT_OPERATOR(Vendor, operators, diopiMul),
    DL_KIT_OPERATOR(Vendor, operators, diopiNeg),     DL_KIT_OPERATOR(Vendor, operators, diopiRelu),
    DL_KIT_OPERATOR(Vendor, operators, diopiCopyInp), DL_KIT_OPERATOR(Vendor, operators, diopiMm),
};
kit::Operators Vendor::operators() { return kOperators; }

}  // namespace

// Step 8: the entry point, the only symbol that the library exports.
DL_KIT_VENDOR(Vendor)
