// Convolutions of the fakes on the host: an operand is memory with sizes and strides.
#ifndef FAKE_LIBRARIES_CONVOLVING_H_
#define FAKE_LIBRARIES_CONVOLVING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "elements.h"

namespace fake {

// A tensor of a convolution, always with three spatial axes.
struct Operand {
  DType type;
  int64_t sizes[5] = {1, 1, 1, 1, 1}, strides[5] = {};
  size_t bytes;          // from the first element to the end of the last one
  char* host = nullptr;  // host copy of the elements

  template <class Int>
  Operand(DType its, const std::vector<Int>& extents, const std::vector<Int>& steps) : type(its) {
    int64_t last = 0;
    for (size_t d = 0; d < extents.size(); ++d) {
      const size_t to = d < 2 ? d : d + 5 - extents.size();
      sizes[to] = extents[d];
      strides[to] = steps[d];
      last += (sizes[to] - 1) * strides[to];
    }
    bytes = (static_cast<size_t>(last) + 1) * bytes_of(type);
  }
  // Offset of an element by its index in each dimension.
  int64_t offset(const int64_t (&at)[5]) const {
    int64_t offset = 0;
    for (int d = 0; d < 5; ++d) offset += at[d] * strides[d];
    return offset;
  }
};

enum class Written { kOutput, kInput, kWeight };

struct Convolving {
  Written written;
  Operand input, weight, output;
  double alpha = 1, beta = 0;
  bool rounds = false;  // rounds factors to TF32
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, before[3] = {0, 0, 0};

  Operand& result() {
    return written == Written::kOutput ? output : written == Written::kInput ? input : weight;
  }

  // Attribute with one value for each axis.
  template <class Int>
  static void set(int64_t (&to)[3], const std::vector<Int>& values) {
    for (size_t i = 0; i < values.size(); ++i) to[i + 3 - values.size()] = values[i];
  }

  void run() {
    const auto value = [&](const Operand& of, int64_t at) {
      const double read = load(of.type, of.host + static_cast<size_t>(at) * bytes_of(of.type));
      return rounds ? rounded_to_tf32(read) : read;
    };
    Operand& target = result();
    std::vector<double> sums(target.bytes / bytes_of(target.type));  // by offset
    each_product([&](int64_t x, int64_t w, int64_t y) {
      if (written == Written::kOutput) {
        sums[y] += value(input, x) * value(weight, w);
      } else if (written == Written::kInput) {
        sums[x] += value(output, y) * value(weight, w);
      } else {
        sums[w] += value(output, y) * value(input, x);
      }
    });
    each_element(target, [&](int64_t at) {
      char* const to = target.host + static_cast<size_t>(at) * bytes_of(target.type);
      const double kept = beta == 0 ? 0 : beta * load(target.type, to);
      store(target.type, to, alpha * sums[at] + kept);
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

  // Calls f(offset in the input, in the weight, in the output) for all products.
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

#endif  // FAKE_LIBRARIES_CONVOLVING_H_
