// Operator descriptors of CNNL: made once for the same arguments, and kept by the calls that use
// them.
#include <cmath>
#include <memory>
#include <utility>

#include "dl/kit/layout.h"
#include "dl/kit/lru.h"
#include "operators/cnnl.h"
#include "operators/helpers.h"
#include "operators/library.h"

namespace dl::cambricon {
namespace {

using Owner = std::shared_ptr<const void>;

// By kind and arguments. Never destroyed: the library may be gone when the process exits.
kit::Lru<kit::Layout, Owner, kit::LayoutHash>& descriptors() {
  constexpr size_t kMost = 1024;
  static auto* const made = new kit::Lru<kit::Layout, Owner, kit::LayoutHash>(kMost);
  return *made;
}

enum Kind : int64_t { kActivation, kOpTensor, kReduce, kConvolution, kPooling };

// Returns the descriptor for a kind and its arguments; `set(descriptor)` sets a new one.
template <class Pointer, class Set>
lib::Object described(Kind kind, const lib::Ints& arguments, const char* creator,
                      const kit::Symbol<Status (*)(Pointer*)>& create,
                      const kit::Symbol<Status (*)(Pointer)>& destroy, const Set& set) {
  kit::Layout key;
  key.append(kind).append(static_cast<int64_t>(arguments.size()));
  for (const int64_t each : arguments) key.append(each);
  const Owner owner = *descriptors().get(key, [&]() -> Owner {
    Pointer made = nullptr;
    the_cnnl().check(create(&made), creator);
    Owner owned(made, [&destroy](const void* gone) {
      destroy(static_cast<Pointer>(const_cast<void*>(gone)));
    });
    set(made);
    return owned;
  });
  return {owner, const_cast<void*>(owner.get())};
}

int as_int(int64_t number) { return static_cast<int>(number); }

int64_t dtype_of(const lib::View& x) {
  return x.dtype == diopi_dtype_float16    ? value("CNNL_DTYPE_HALF")
         : x.dtype == diopi_dtype_bfloat16 ? value("CNNL_DTYPE_BFLOAT16")
         : x.dtype == diopi_dtype_float32  ? value("CNNL_DTYPE_FLOAT")
         : x.dtype == diopi_dtype_bool     ? value("CNNL_DTYPE_BOOL")
                                           : value("CNNL_DTYPE_INT32");
}

lib::Object reduction(int64_t operation, const lib::Ints& dims, const lib::View& x,
                      const char* indices, float order) {
  lib::Ints arguments{operation,
                      dtype_of(x),
                      value("CNNL_NOT_PROPAGATE_NAN"),
                      value(indices),
                      value("CNNL_64BIT_INDICES"),
                      std::lround(1e6F * order)};
  std::vector<int> axes;
  for (const int64_t dim : dims) axes.push_back(lib::dimension(x, dim));
  if (dims.empty())
    for (int32_t d = 0; d < std::max(x.ndim, 1); ++d) axes.push_back(d);
  arguments.insert(arguments.end(), axes.begin(), axes.end());
  Cnnl& cnnl = the_cnnl();
  return described(
      kReduce, arguments, "cnnlCreateReduceDescriptor", cnnl.cnnlCreateReduceDescriptor,
      cnnl.cnnlDestroyReduceDescriptor, [&](cnnlReduceDescriptor_t made) {
        cnnl.check(cnnl.cnnlSetReduceDescriptor_v2(
                       made, axes.data(), as_int(static_cast<int64_t>(axes.size())),
                       as_int(arguments[0]), as_int(arguments[1]), as_int(arguments[2]),
                       as_int(arguments[3]), as_int(arguments[4]), order),
                   "cnnlSetReduceDescriptor_v2");
      });
}

// Only GELU has an approximation.
lib::Object activation_of(const char* mode, bool approximate) {
  const lib::Ints arguments{value(mode), value("CNNL_ACTIVATION_HIGH_PRECISION"),
                            value("CNNL_PROPAGATE_NAN"), approximate};
  Cnnl& cnnl = the_cnnl();
  return described(kActivation, arguments, "cnnlCreateActivationDescriptor",
                   cnnl.cnnlCreateActivationDescriptor, cnnl.cnnlDestroyActivationDescriptor,
                   [&](cnnlActivationDescriptor_t made) {
                     // Coefficients and the sliced dimension are for other modes.
                     cnnl.check(cnnl.cnnlSetActivationDescriptor_v6(
                                    made, as_int(arguments[0]), as_int(arguments[1]),
                                    as_int(arguments[2]), 0.0F, 0, 0.0F, 0.0F, false, approximate),
                                "cnnlSetActivationDescriptor_v6");
                   });
}

}  // namespace

lib::Object activation(const char* mode) { return activation_of(mode, false); }
lib::Object gelu(bool approximate) { return activation_of("CNNL_ACTIVATION_GELU", approximate); }

lib::Object op_tensor(const char* operation, const lib::View& like) {
  const lib::Ints arguments{
      value(operation),
      lib::is_floating(like) ? value("CNNL_DTYPE_FLOAT") : value("CNNL_DTYPE_INT32"),
      value("CNNL_NOT_PROPAGATE_NAN")};
  Cnnl& cnnl = the_cnnl();
  return described(
      kOpTensor, arguments, "cnnlCreateOpTensorDescriptor", cnnl.cnnlCreateOpTensorDescriptor,
      cnnl.cnnlDestroyOpTensorDescriptor, [&](cnnlOpTensorDescriptor_t made) {
        cnnl.check(cnnl.cnnlSetOpTensorDescriptor(made, as_int(arguments[0]), as_int(arguments[1]),
                                                  as_int(arguments[2])),
                   "cnnlSetOpTensorDescriptor");
      });
}

lib::Object reduce(const char* operation, const lib::Ints& dims, const lib::View& x) {
  return reduction(value(operation), dims, x, "CNNL_REDUCE_NO_INDICES", 0.0F);
}
lib::Object reduce_norm(double order, const lib::Ints& dims, const lib::View& x) {
  if (order != 1.0 && order != 2.0) lib::refuse("a norm of another order than 1 and 2");
  return reduction(value(order == 1.0 ? "CNNL_REDUCE_NORM1" : "CNNL_REDUCE_NORM2"), dims, x,
                   "CNNL_REDUCE_NO_INDICES", 0.0F);
}
lib::Object reduce_indices(const char* operation, int64_t dim, const lib::View& x) {
  return reduction(value(operation), {dim}, x, "CNNL_REDUCE_ONLY_INDICES", 0.0F);
}

lib::Object convolution(const lib::Ints& stride, const lib::Ints& padding,
                        const lib::Ints& dilation, int64_t groups) {
  const lib::Ints steps = lib::pair(stride), edge = lib::pair(padding), apart = lib::pair(dilation);
  const int pads[] = {as_int(edge[0]), as_int(edge[0]), as_int(edge[1]), as_int(edge[1])};
  const int strides[] = {as_int(steps[0]), as_int(steps[1])};
  const int dilations[] = {as_int(apart[0]), as_int(apart[1])};
  const int64_t compute = value("CNNL_DTYPE_FLOAT");
  Cnnl& cnnl = the_cnnl();
  return described(kConvolution,
                   {pads[0], pads[2], strides[0], strides[1], dilations[0], dilations[1], groups},
                   "cnnlCreateConvolutionDescriptor", cnnl.cnnlCreateConvolutionDescriptor,
                   cnnl.cnnlDestroyConvolutionDescriptor, [&](cnnlConvolutionDescriptor_t made) {
                     cnnl.check(cnnl.cnnlSetConvolutionDescriptor(made, 4, pads, strides, dilations,
                                                                  as_int(groups), as_int(compute)),
                                "cnnlSetConvolutionDescriptor");
                   });
}

lib::Object pooling(const char* mode, const lib::Ints& kernel, const lib::Ints& stride,
                    const lib::Ints& padding, const lib::Ints& dilation, bool ceil_mode) {
  const lib::Ints window = lib::pair(kernel), steps = lib::pair(lib::stride(stride, kernel)),
                  edge = lib::pair(padding), apart = lib::pair(dilation);
  const lib::Ints arguments{value(mode), value("CNNL_PROPAGATE_NAN"),
                            window[0],   window[1],
                            edge[0],     edge[0],
                            edge[1],     edge[1],
                            steps[0],    steps[1],
                            apart[0],    apart[1],
                            ceil_mode};
  Cnnl& cnnl = the_cnnl();
  return described(kPooling, arguments, "cnnlCreatePoolingDescriptor",
                   cnnl.cnnlCreatePoolingDescriptor, cnnl.cnnlDestroyPoolingDescriptor,
                   [&](cnnlPoolingDescriptor_t made) {
                     const auto at = [&](size_t i) { return as_int(arguments[i]); };
                     cnnl.check(cnnl.cnnlSetPooling2dDescriptor_v2(
                                    made, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7),
                                    at(8), at(9), at(10), at(11), ceil_mode),
                                "cnnlSetPooling2dDescriptor_v2");
                   });
}

namespace {

// A product: its descriptor, and the algorithm that the library chooses for the shapes.
struct Product {
  Owner descriptor, algorithm;
  size_t workspace = 0;
};

// Calls a function when it is destroyed, unless the object went to an owner.
template <class Pointer>
Owner owned(Pointer made, const kit::Symbol<Status (*)(Pointer)>& destroy) {
  return Owner(made, [&destroy](const void* gone) {
    destroy(static_cast<Pointer>(const_cast<void*>(gone)));
  });
}

template <class Pointer>
Pointer pointer_of(const Owner& owner) {
  return static_cast<Pointer>(const_cast<void*>(owner.get()));
}

// A tensor without gaps of the same shape, as the functions get it.
lib::View dense(const lib::View& x) {
  lib::View view = x;
  int64_t stride = 1;
  for (int32_t d = x.ndim - 1; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= std::max<int64_t>(x.sizes[d], 1);
  }
  return view;
}

bool is_transposed(const lib::View& x) {
  return !x.is_contiguous() && x.ndim >= 2 && lib::t(x).is_contiguous();
}

Product make_product(lib::Call& call, const lib::View& a, const lib::View& b, const lib::View& out,
                     bool beta) {
  Cnnl& cnnl = the_cnnl();
  auto& backend = static_cast<OperatorBackend&>(call.backend());
  Product product;
  cnnlMatMulDescriptor_t matmul = nullptr;
  cnnl.check(cnnl.cnnlMatMulDescCreate(&matmul), "cnnlMatMulDescCreate");
  product.descriptor = owned(matmul, cnnl.cnnlMatMulDescDestroy);
  const auto set = [&](const char* attribute, int64_t number) {
    const int32_t given = as_int(number);
    cnnl.check(cnnl.cnnlSetMatMulDescAttr(matmul, as_int(value(attribute)), &given, sizeof given),
               "cnnlSetMatMulDescAttr");
  };
  set("CNNL_MATMUL_DESC_COMPUTE_TYPE", value("CNNL_DTYPE_FLOAT"));
  set("CNNL_MATMUL_DESC_TRANSA", is_transposed(a));
  set("CNNL_MATMUL_DESC_TRANSB", is_transposed(b));
  // Products have the precision of their inputs.
  set("CNNL_MATMUL_ALLOW_TF32", 0);
  set("CNNL_MATMUL_USE_BETA", beta);

  cnnlMatMulAlgo_t algorithm = nullptr;
  cnnl.check(cnnl.cnnlMatMulAlgoCreate(&algorithm), "cnnlMatMulAlgoCreate");
  product.algorithm = owned(algorithm, cnnl.cnnlMatMulAlgoDestroy);
  cnnlMatMulHeuristicResult_t result = nullptr;
  cnnl.check(cnnl.cnnlCreateMatMulHeuristicResult(&result), "cnnlCreateMatMulHeuristicResult");
  const Owner heuristic = owned(result, cnnl.cnnlDestroyMatMulHeuristicResult);

  const auto left = backend.descriptor_of(dense(factor_of_product(a)));
  const auto right = backend.descriptor_of(dense(factor_of_product(b)));
  const auto target = backend.descriptor_of(dense(out));
  const auto desc = [](const auto& owner) {
    return static_cast<cnnlTensorDescriptor_t>(owner->get());
  };
  const auto handle = static_cast<cnnlHandle_t>(backend.handle(call));
  int found = 0;
  if (a.ndim == 2) {
    cnnl.check(
        cnnl.cnnlGetMatMulAlgoHeuristic(handle, matmul, desc(left), desc(right), desc(target),
                                        desc(target), nullptr, 1, &result, &found),
        "cnnlGetMatMulAlgoHeuristic");
  } else {
    cnnl.check(cnnl.cnnlGetBatchMatMulAlgoHeuristic(handle, matmul, desc(left), desc(right),
                                                    desc(target), nullptr, 1, &result, &found),
               "cnnlGetBatchMatMulAlgoHeuristic");
  }
  if (found != 1) lib::refuse("CNNL has no algorithm for the product");
  cnnl.check(a.ndim == 2
                 ? cnnl.cnnlGetMatMulHeuristicResult(result, algorithm, &product.workspace)
                 : cnnl.cnnlGetBatchMatMulHeuristicResult(result, algorithm, &product.workspace),
             "cnnlGetMatMulHeuristicResult");
  return product;
}

std::shared_ptr<const Product> product_of(lib::Call& call, const lib::View& a, const lib::View& b,
                                          const lib::View& out, bool beta) {
  constexpr size_t kMost = 512;
  static auto* const products = new kit::Lru<kit::Layout, Product, kit::LayoutHash>(kMost);
  kit::Layout key;
  key.append(call.device()).append(beta);
  for (const lib::View* view : {&a, &b, &out}) {
    key.append(view->dtype).append(view->ndim).append(is_transposed(*view) && view != &out);
    for (int32_t d = 0; d < view->ndim; ++d) key.append(view->sizes[d]);
  }
  return products->get(key, [&] { return make_product(call, a, b, out, beta); });
}

}  // namespace

namespace {

// Three tensors of a convolution, as its functions get them.
struct Convolved {
  Convolved(lib::Call& call, const lib::View& a, const lib::View& b, const lib::View& c)
      : backend(static_cast<OperatorBackend&>(call.backend())),
        handle(static_cast<cnnlHandle_t>(backend.handle(call))),
        owners{backend.descriptor_of(dense(a)), backend.descriptor_of(dense(b)),
               backend.descriptor_of(dense(c))} {}

  cnnlTensorDescriptor_t operator[](size_t i) const {
    return static_cast<cnnlTensorDescriptor_t>(owners[i]->get());
  }

  OperatorBackend& backend;
  const cnnlHandle_t handle;
  const std::shared_ptr<const OperatorBackend::Descriptor> owners[3];
};

cnnlConvolutionDescriptor_t convolution_of(const lib::Object& object) {
  return static_cast<cnnlConvolutionDescriptor_t>(object.pointer);
}

}  // namespace

int64_t forward_algorithm(lib::Call& call, const lib::Object& convolution, const lib::View& x,
                          const lib::View& w, const lib::View& y) {
  const Convolved tensors(call, x, w, y);
  Cnnl& cnnl = the_cnnl();
  int found = 0;
  cnnl.check(cnnl.cnnlGetConvolutionForwardAlgorithm(
                 tensors.handle, convolution_of(convolution), tensors[0], tensors[1], tensors[2],
                 as_int(value("CNNL_CONVOLUTION_FWD_FASTEST")), &found),
             "cnnlGetConvolutionForwardAlgorithm");
  return found;
}
int64_t data_algorithm(lib::Call& call, const lib::Object& convolution, const lib::View& w,
                       const lib::View& diff_y, const lib::View& diff_x) {
  const Convolved tensors(call, w, diff_y, diff_x);
  Cnnl& cnnl = the_cnnl();
  int found = 0;
  cnnl.check(cnnl.cnnlGetConvolutionBackwardDataAlgorithm(
                 tensors.handle, tensors[0], tensors[1], convolution_of(convolution), tensors[2],
                 as_int(value("CNNL_CONVOLUTION_BWD_DATA_FASTEST")), &found),
             "cnnlGetConvolutionBackwardDataAlgorithm");
  return found;
}
int64_t filter_algorithm(lib::Call& call, const lib::Object& convolution, const lib::View& x,
                         const lib::View& diff_y, const lib::View& diff_w) {
  const Convolved tensors(call, x, diff_y, diff_w);
  Cnnl& cnnl = the_cnnl();
  int found = 0;
  cnnl.check(cnnl.cnnlGetConvolutionBackwardFilterAlgorithm(
                 tensors.handle, convolution_of(convolution), tensors[0], tensors[1], tensors[2],
                 as_int(value("CNNL_CONVOLUTION_BWD_FILTER_FASTEST")), &found),
             "cnnlGetConvolutionBackwardFilterAlgorithm");
  return found;
}

lib::Object matmul(lib::Call& call, const lib::View& a, const lib::View& b, const lib::View& out,
                   bool beta) {
  const auto product = product_of(call, a, b, out, beta);
  return {product->descriptor, pointer_of<void*>(product->descriptor)};
}
lib::Object matmul_algorithm(lib::Call& call, const lib::View& a, const lib::View& b,
                             const lib::View& out, bool beta) {
  const auto product = product_of(call, a, b, out, beta);
  return {product->algorithm, pointer_of<void*>(product->algorithm)};
}
int64_t matmul_workspace(lib::Call& call, const lib::View& a, const lib::View& b,
                         const lib::View& out, bool beta) {
  return static_cast<int64_t>(product_of(call, a, b, out, beta)->workspace);
}

}  // namespace dl::cambricon
