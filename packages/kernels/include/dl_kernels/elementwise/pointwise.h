// Common forms of elementwise operators: the accepted dtypes, and the functor for the compute type.
#ifndef DL_KERNELS_ELEMENTWISE_POINTWISE_H_
#define DL_KERNELS_ELEMENTWISE_POINTWISE_H_

#include <type_traits>

#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/elementwise/elementwise.h"

DL_KERNELS_BEGIN

// Describe a single element in memory as a 0-dimensional tensor.
template <class T>
DL_FN TensorRef single(T* value) {
  TensorRef tensor{};
  tensor.data = value;
  tensor.numel = 1;
  tensor.contiguous = true;
  tensor.on_host = true;
  return tensor;
}

// Return true if a scalar would promote a tensor of `dtype` to another category, which the host
// does before the call.
inline bool scalar_promotes(diopiDtype_t dtype, const diopiScalar_t* scalar) {
  return is_floating(scalar->stype) && is_integral(dtype);
}

// out = f(a); one dtype. `make(Tag<C>{})` gives the functor on compute type C.
template <uint32_t Mask, class Make>
diopiError_t unary(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t out,
                   diopiConstTensorHandle_t a, const Make& make) {
  const TensorRef o = ref(out), x = ref(a);
  if (o.dtype != x.dtype) return diopiDtypeNotSupported;
  return dispatch<Mask>(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return elementwise<T, T>(ctx, op, make(Tag<compute_t<T>>{}), o, x);
  });
}

// Return the functor on compute type C for elements of type T: `make(Tag<C>{})` or, if its
// intermediate results are rounded to the elements' precision, `make(Tag<C>{}, Tag<T>{})`.
template <class C, class T, class Make>
auto functor(const Make& make) {
  if constexpr (std::is_invocable_v<const Make&, Tag<C>, Tag<T>>) {
    return make(Tag<C>{}, Tag<T>{});
  } else {
    return make(Tag<C>{});
  }
}

// out = f(a, b); one dtype.
template <uint32_t Mask, class Make>
diopiError_t binary(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t out,
                    diopiConstTensorHandle_t a, diopiConstTensorHandle_t b, const Make& make) {
  const TensorRef o = ref(out), x = ref(a), y = ref(b);
  if (o.dtype != x.dtype || o.dtype != y.dtype) return diopiDtypeNotSupported;
  return dispatch<Mask>(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return elementwise<T, T, T>(ctx, op, functor<compute_t<T>, T>(make), o, x, y);
  });
}

// out = f(a, scalar); the scalar and intermediate results keep the precision of the compute type.
template <uint32_t Mask, class Make>
diopiError_t binary_scalar(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t out,
                           diopiConstTensorHandle_t a, const diopiScalar_t* scalar,
                           const Make& make) {
  const TensorRef o = ref(out), x = ref(a);
  if (o.dtype != x.dtype || scalar_promotes(x.dtype, scalar)) return diopiDtypeNotSupported;
  return dispatch<Mask>(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    C value = scalar_to<C>(*scalar);
    return elementwise<T, T, C>(ctx, op, functor<C, C>(make), o, x, single(&value));
  });
}

// out = f(scalar, b).
template <uint32_t Mask, class Make>
diopiError_t scalar_binary(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t out,
                           const diopiScalar_t* scalar, diopiConstTensorHandle_t b,
                           const Make& make) {
  const TensorRef o = ref(out), y = ref(b);
  if (o.dtype != y.dtype || scalar_promotes(y.dtype, scalar)) return diopiDtypeNotSupported;
  return dispatch<Mask>(y.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    C value = scalar_to<C>(*scalar);
    return elementwise<T, C, T>(ctx, op, make(Tag<C>{}), o, single(&value), y);
  });
}

// out = f(a, b, c); one dtype.
template <uint32_t Mask, class Make>
diopiError_t ternary(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t out,
                     diopiConstTensorHandle_t a, diopiConstTensorHandle_t b,
                     diopiConstTensorHandle_t c, const Make& make) {
  const TensorRef o = ref(out), x = ref(a), y = ref(b), z = ref(c);
  if (o.dtype != x.dtype || o.dtype != y.dtype || o.dtype != z.dtype) return diopiDtypeNotSupported;
  return dispatch<Mask>(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return elementwise<T, T, T, T>(ctx, op, make(Tag<compute_t<T>>{}), o, x, y, z);
  });
}

// A parameter of a functor, in the functor's compute type.
template <class C>
C parameter_to(const diopiScalar_t* scalar) {
  return scalar_to<C>(*scalar);
}
template <class C>
C parameter_to(double value) {
  return static_cast<C>(value);
}

// `make` for a functor with parameters: scalar arguments, or C++ numbers.
template <template <class> class Op, class... Parameters>
auto with(Parameters... parameters) {
  return [=](auto tag) {
    using C = typename decltype(tag)::type;
    return Op<C>{parameter_to<C>(parameters)...};
  };
}

// `make` for a functor without parameters.
template <template <class> class Op>
inline constexpr auto plain = [](auto tag) { return Op<typename decltype(tag)::type>{}; };

// The same for a functor that depends on the element type.
template <template <class> class Op>
inline constexpr auto of_elements =
    [](auto, auto tag) { return Op<typename decltype(tag)::type>{}; };

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_POINTWISE_H_
