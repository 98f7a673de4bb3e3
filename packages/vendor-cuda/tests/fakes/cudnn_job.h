// Convolutions of the fake cuDNN, as work of a stream: operands are copied to the host, a function
// of the host computes, the result is copied back. Nothing is waited for, and graphs can capture
// it.
#ifndef DL_CUDA_TESTS_FAKES_CUDNN_JOB_H_
#define DL_CUDA_TESTS_FAKES_CUDNN_JOB_H_

#include <cmath>

#include "cudnn.h"

namespace fake {

inline double number(int type, const char* at) {
  if (type == kFloat64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (type == kFloat16) {
    _Float16 value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  uint32_t bits = 0;
  std::memcpy(&bits, at, type == kFloat32 ? 4 : 2);
  if (type == kBfloat16) bits <<= 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

inline void put(int type, char* at, double value) {
  const auto narrow = static_cast<float>(value);
  if (type == kFloat64) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == kFloat32) {
    std::memcpy(at, &narrow, sizeof narrow);
  } else if (type == kFloat16) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(at, &half, sizeof half);
  } else {
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    const auto half = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(at, &half, sizeof half);
  }
}

// As TF32 has it: 10 bits behind the point.
inline double as_tf32(double value) {
  auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  bits &= ~uint32_t{0x1fff};
  std::memcpy(&narrow, &bits, sizeof narrow);
  return static_cast<double>(narrow);
}

// A tensor of a job: with three axes always, and the host's copy of its memory.
struct Operand {
  int type;
  int64_t sizes[5] = {1, 1, 1, 1, 1}, strides[5] = {};
  size_t bytes;  // from the first element to the end of the last
  dl::kit::cuda::Address device;
  char* host = nullptr;

  Operand(const Object& tensor, const void* data)
      : type(tensor.one<int>(kTensorType)), device(dl::kit::cuda::address_of(data)) {
    const auto extents = tensor.all<int64_t>(kTensorSizes);
    const auto steps = tensor.all<int64_t>(kTensorStrides);
    int64_t last = 0;
    for (size_t d = 0; d < extents.size(); ++d) {
      const size_t to = d < 2 ? d : d + 5 - extents.size();
      sizes[to] = extents[d];
      strides[to] = steps[d];
      last += (extents[d] - 1) * steps[d];
    }
    bytes = (static_cast<size_t>(last) + 1) * bytes_of(type);
  }
  // Of an element by its place in each dimension.
  int64_t offset(const int64_t (&at)[5]) const {
    int64_t offset = 0;
    for (int d = 0; d < 5; ++d) offset += at[d] * strides[d];
    return offset;
  }
};

struct Job {
  int kind;
  double alpha, beta;
  bool rounds;  // to TF32
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, before[3] = {0, 0, 0};
  Operand input, weight, output;

  Job(const Operation& operation, bool to_tf32, const void* x, const void* w, const void* y)
      : kind(operation.self.kind),
        alpha(operation.alpha),
        beta(operation.beta),
        rounds(to_tf32),
        input(operation.input, x),
        weight(operation.weight, w),
        output(operation.output, y) {
    const auto read = [&](int name, int64_t (&to)[3]) {
      const auto values = operation.convolution.all<int64_t>(name);
      for (size_t i = 0; i < values.size(); ++i) to[i + 3 - values.size()] = values[i];
    };
    read(kStrides, stride);
    read(kDilations, dilation);
    read(kPaddingBefore, before);
  }

  Operand& result() { return kind == kForward ? output : kind == kInputGradient ? input : weight; }

  void run() {
    const auto value = [&](const Operand& of, int64_t at) {
      const double read = number(of.type, of.host + static_cast<size_t>(at) * bytes_of(of.type));
      return rounds ? as_tf32(read) : read;
    };
    Operand& target = result();
    std::vector<double> sums(target.bytes / bytes_of(target.type));  // by the offset
    each_product([&](int64_t x, int64_t w, int64_t y) {
      if (kind == kForward) {
        sums[y] += value(input, x) * value(weight, w);
      } else if (kind == kInputGradient) {
        sums[x] += value(output, y) * value(weight, w);
      } else {
        sums[w] += value(output, y) * value(input, x);
      }
    });
    each_element(target, [&](int64_t at) {
      char* const to = target.host + static_cast<size_t>(at) * bytes_of(target.type);
      const double kept = beta == 0 ? 0 : beta * number(target.type, to);
      put(target.type, to, alpha * sums[at] + kept);
    });
  }

 private:
  template <class F>
  static void each_element(const Operand& of, const F& f) {
    const int64_t* s = of.sizes;
    for (int64_t i = 0; i < s[0] * s[1] * s[2] * s[3] * s[4]; ++i) {
      const int64_t at[5] = {i / s[4] / s[3] / s[2] / s[1], i / s[4] / s[3] / s[2] % s[1],
                             i / s[4] / s[3] % s[2], i / s[4] % s[3], i % s[4]};
      f(of.offset(at));
    }
  }

  // f(offset in the input, in the weight, in the output) of all that are multiplied.
  template <class F>
  void each_product(const F& f) const {
    const int64_t filters = weight.sizes[0], channels = weight.sizes[1];
    const int64_t groups = input.sizes[1] / channels;
    const int64_t *o = output.sizes, *k = weight.sizes;
    for (int64_t n = 0; n < input.sizes[0]; ++n)
      for (int64_t filter = 0; filter < filters; ++filter)
        for (int64_t p = 0; p < o[2] * o[3] * o[4]; ++p)
          for (int64_t t = 0; t < k[2] * k[3] * k[4]; ++t) {
            const int64_t place[3] = {p / o[4] / o[3], p / o[4] % o[3], p % o[4]};
            const int64_t tap[3] = {t / k[4] / k[3], t / k[4] % k[3], t % k[4]};
            int64_t on[3];
            bool inside = true;
            for (int i = 0; i < 3; ++i) {
              on[i] = place[i] * stride[i] - before[i] + tap[i] * dilation[i];
              inside = inside && on[i] >= 0 && on[i] < input.sizes[2 + i];
            }
            if (!inside) continue;
            for (int64_t c = 0; c < channels; ++c) {
              const int64_t from = filter / (filters / groups) * channels + c;
              f(input.offset({n, from, on[0], on[1], on[2]}),
                weight.offset({filter, c, tap[0], tap[1], tap[2]}),
                output.offset({n, filter, place[0], place[1], place[2]}));
            }
          }
  }
};

}  // namespace fake

#endif  // DL_CUDA_TESTS_FAKES_CUDNN_JOB_H_
