#include "library/constants.h"
#include "library/libraries.h"
#include "library/onednn.h"

namespace dl::cpu::onednn {
namespace {

using kernels::Axis;
using kernels::ConvShape;
using kernels::Launch;
using kernels::TensorRef;

// A tensor in oneDNN's convention: the sample dimension always exists, and groups are a dimension
// of the weight.
struct Layout {
  int ndim = 0;
  Dims sizes{}, strides{};

  void add(int64_t size, int64_t stride) {
    sizes[ndim] = size;
    strides[ndim++] = stride;
  }
};

Layout image_layout(const TensorRef& tensor, const ConvShape& shape) {
  Layout layout;
  if (tensor.ndim == shape.dims + 1) layout.add(1, tensor.numel);
  for (int64_t d = 0; d < tensor.ndim; ++d) layout.add(tensor.sizes[d], tensor.strides[d]);
  return layout;
}

Layout weight_layout(const TensorRef& tensor, const ConvShape& shape) {
  Layout layout;
  if (shape.groups > 1) {
    layout.add(shape.groups, shape.group_filters() * tensor.strides[0]);
    layout.add(shape.group_filters(), tensor.strides[0]);
  } else {
    layout.add(shape.filters, tensor.strides[0]);
  }
  for (int64_t d = 1; d < tensor.ndim; ++d) layout.add(tensor.sizes[d], tensor.strides[d]);
  return layout;
}

struct Geometry {
  Dims strides{}, dilations{}, before{}, after{};

  explicit Geometry(const ConvShape& shape) {
    for (int i = 0; i < shape.dims; ++i) {
      const Axis& axis = shape.axes[3 - shape.dims + i];
      strides[i] = axis.stride;
      dilations[i] = axis.dilation - 1;
      before[i] = axis.padding;
      // Number of cells that the last window covers beyond the image; negative if windows end
      // before it.
      after[i] = (axis.output - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1 -
                 axis.input - axis.padding;
    }
  }
};

// A call: the layouts of its tensors, and the descriptors created from them.
struct Convolution {
  DataType type, image_type;
  const ConvShape& shape;
  Geometry geometry;
  Layout image, weight, result;
  bool with_bias, as_given, constant;  // of the weights

  Convolution(const ConvShape& of, const TensorRef& images, const TensorRef& weights,
              const TensorRef& results, bool bias, Operands operands)
      : type(data_type(weights.dtype)),
        image_type(data_type(images.dtype)),
        shape(of),
        geometry(of),
        image(image_layout(images, of)),
        weight(weight_layout(weights, of)),
        result(image_layout(results, of)),
        with_bias(bias),
        as_given(operands == Operands::kOther),
        constant(constants::contains(weights.data)) {}

  Key key(int64_t kind) const {
    Key key;
    for (int64_t value : {as_given ? -kind : kind, int64_t(type), int64_t(image_type),
                          int64_t(shape.dims), shape.groups, int64_t(with_bias), int64_t(constant)})
      key.add(value);
    for (const Layout* layout : {&image, &weight, &result}) {
      for (int i = 0; i < layout->ndim; ++i) {
        key.add(layout->sizes[i]);
        key.add(layout->strides[i]);
      }
    }
    for (int i = 0; i < shape.dims; ++i) {
      key.add(geometry.strides[i]);
      key.add(geometry.dilations[i]);
      key.add(geometry.before[i]);
    }
    return key;
  }

  MemoryDescOwner given(const Layout& layout) const {
    return describe(type_of(layout), layout.ndim, layout.sizes, layout.strides);
  }
  MemoryDescOwner any(const Layout& layout) const {
    if (as_given && !(constant && &layout == &weight)) return given(layout);
    return describe_any(type_of(layout), layout.ndim, layout.sizes);
  }
  DataType type_of(const Layout& layout) const { return &layout == &image ? image_type : type; }
  MemoryDescOwner bias() const {
    const int64_t one = 1;
    return with_bias ? describe(type, 1, &shape.filters, &one) : nullptr;
  }

  PrimitiveDescOwner forward(const Attributes* attributes, bool hint) const {
    const MemoryDescOwner from = as_given ? describe(type, image.ndim, image.sizes, image.strides)
                                          : describe_any(type, image.ndim, image.sizes),
                          taps = any(weight), to = any(result), shift = hint ? nullptr : bias();
    PrimitiveDesc* created = nullptr;
    if (from == nullptr || taps == nullptr || to == nullptr ||
        runtime()->api.convolution_forward_primitive_desc_create(
            &created, runtime()->engine, kForwardTraining, kConvolutionDirect, from.get(),
            taps.get(), shift.get(), to.get(), geometry.strides, geometry.dilations,
            geometry.before, geometry.after, attributes) != kSuccess)
      return nullptr;
    return PrimitiveDescOwner(created);
  }
};

std::vector<Port> ports(Port first, Port second, Port third) {
  std::vector<Port> list;
  list.push_back(std::move(first));
  list.push_back(std::move(second));
  list.push_back(std::move(third));
  return list;
}

bool all_given(const std::vector<Port>& ports) {
  for (const Port& port : ports) {
    if (port.given == nullptr) return false;
  }
  return true;
}

std::unique_ptr<Operation> make_forward(const Convolution& call) {
  const AttributesOwner attributes = default_attributes();
  auto list = ports({kSource, kSourceDesc, call.given(call.image)},
                    {kWeights, kWeightsDesc, call.given(call.weight)},
                    {kDestination, kDestinationDesc, call.given(call.result)});
  if (call.with_bias) list.push_back({kBias, Query(0), call.bias()});
  if (attributes == nullptr || !all_given(list)) return nullptr;
  return Operation::make(call.forward(attributes.get(), false), std::move(list));
}

std::unique_ptr<Operation> make_input_gradient(const Convolution& call) {
  const AttributesOwner attributes = default_attributes();
  const PrimitiveDescOwner hint = call.forward(attributes.get(), true);
  const MemoryDescOwner to = call.any(call.image), taps = call.any(call.weight),
                        from = call.any(call.result);
  auto list = ports({kDiffSource, kDiffSourceDesc, call.given(call.image)},
                    {kWeights, kWeightsDesc, call.given(call.weight)},
                    {kDiffDestination, kDiffDestinationDesc, call.given(call.result)});
  if (hint == nullptr || to == nullptr || taps == nullptr || from == nullptr || !all_given(list))
    return nullptr;
  PrimitiveDesc* created = nullptr;
  const Geometry& geometry = call.geometry;
  if (runtime()->api.convolution_backward_data_primitive_desc_create(
          &created, runtime()->engine, kConvolutionDirect, to.get(), taps.get(), from.get(),
          geometry.strides, geometry.dilations, geometry.before, geometry.after, hint.get(),
          attributes.get()) != kSuccess)
    return nullptr;
  return Operation::make(PrimitiveDescOwner(created), std::move(list));
}

std::unique_ptr<Operation> make_weight_gradient(const Convolution& call) {
  const AttributesOwner attributes = default_attributes();
  const PrimitiveDescOwner hint = call.forward(attributes.get(), true);
  const MemoryDescOwner from = call.any(call.image), taps = call.any(call.weight),
                        grad = call.any(call.result), shift = call.bias();
  auto list = ports({kSource, kSourceDesc, call.given(call.image)},
                    {kDiffWeights, kDiffWeightsDesc, call.given(call.weight)},
                    {kDiffDestination, kDiffDestinationDesc, call.given(call.result)});
  if (call.with_bias) list.push_back({kDiffBias, Query(0), call.bias()});
  if (hint == nullptr || from == nullptr || taps == nullptr || grad == nullptr || !all_given(list))
    return nullptr;
  PrimitiveDesc* created = nullptr;
  const Geometry& geometry = call.geometry;
  if (runtime()->api.convolution_backward_weights_primitive_desc_create(
          &created, runtime()->engine, kConvolutionDirect, from.get(), taps.get(), shift.get(),
          grad.get(), geometry.strides, geometry.dilations, geometry.before, geometry.after,
          hint.get(), attributes.get()) != kSuccess)
    return nullptr;
  return Operation::make(PrimitiveDescOwner(created), std::move(list));
}

bool served(const TensorRef& tensor) { return serves(tensor.dtype); }

enum Kind : int64_t { kForward = 1, kInputGradient, kWeightGradient };

}  // namespace

void add_convolution(choices::Key& key, const ConvShape& shape, const TensorRef& image,
                     const TensorRef& weight, const TensorRef& result, bool bias) {
  for (const int64_t value :
       {int64_t(weight.dtype), int64_t(image.dtype), int64_t(shape.dims), int64_t(bias)})
    key.add(value);
  for (const TensorRef* tensor : {&image, &weight, &result}) {
    for (int64_t d = 0; d < tensor->ndim; ++d) {
      key.add(tensor->sizes[d]);
      key.add(tensor->strides[d]);
    }
  }
  key.add(shape.groups);
  for (int i = 3 - shape.dims; i < 3; ++i) {
    key.add(shape.axes[i].stride);
    key.add(shape.axes[i].dilation);
    key.add(shape.axes[i].padding);
  }
}

bool convolve(const Launch& launch, const ConvShape& shape, const TensorRef& out,
              const TensorRef& input, const TensorRef& weight, const void* bias,
              Operands operands) {
  if (!served(out)) return false;
  const Convolution call(shape, input, weight, out, bias != nullptr, operands);
  void* const data[] = {input.data, weight.data, out.data, const_cast<void*>(bias)};
  return run_cached(launch, call.key(kForward), [&] { return make_forward(call); }, data);
}

bool input_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_input,
                    const TensorRef& grad_output, const TensorRef& weight, Operands operands) {
  if (!served(grad_output)) return false;
  const Convolution call(shape, grad_input, weight, grad_output, false, operands);
  void* const data[] = {grad_input.data, weight.data, grad_output.data};
  return run_cached(
      launch, call.key(kInputGradient), [&] { return make_input_gradient(call); }, data);
}

bool weight_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_weight,
                     void* grad_bias, const TensorRef& grad_output, const TensorRef& input,
                     Operands operands) {
  if (!served(grad_output)) return false;
  const Convolution call(shape, input, grad_weight, grad_output, grad_bias != nullptr, operands);
  void* const data[] = {input.data, grad_weight.data, grad_output.data, grad_bias};
  return run_cached(
      launch, call.key(kWeightGradient), [&] { return make_weight_gradient(call); }, data);
}

}  // namespace dl::cpu::onednn
