// A library in DIOPI's own convention that has DIOPI's fused operators and none of the contract's
// own, for tests of core's alternatives. Plain loops over float32.
#include <cmath>
#include <cstdint>
#include <vector>

#include "diopi/diopirt.h"
#include "diopi/functions.h"
#include "diopi/functions_ext.h"

namespace {

// Elements of a float tensor, addressed by its strides.
class View {
 public:
  View(const void* data, diopiSize_t sizes, diopiSize_t strides)
      : data_(static_cast<float*>(const_cast<void*>(data))), sizes_(sizes), strides_(strides) {}

  static View read(diopiConstTensorHandle_t tensor) {
    const void* data = nullptr;
    diopiSize_t sizes, strides;
    diopiGetTensorDataConst(tensor, &data);
    diopiGetTensorShape(tensor, &sizes);
    diopiGetTensorStride(tensor, &strides);
    return {data, sizes, strides};
  }
  static View write(diopiTensorHandle_t tensor) {
    void* data = nullptr;
    diopiGetTensorData(tensor, &data);
    const View view = read(tensor);
    return {data, view.sizes_, view.strides_};
  }

  int64_t rank() const { return sizes_.len; }
  int64_t size(int64_t dim) const { return sizes_.data[dim < 0 ? dim + sizes_.len : dim]; }
  template <typename... Index>
  float& at(Index... index) const {
    int64_t offset = 0, dim = 0;
    ((offset += index * strides_.data[dim++]), ...);
    return data_[offset];
  }

 private:
  float* data_;
  diopiSize_t sizes_, strides_;
};

// The weights of one query for all keys; weights of masked keys are 0.
std::vector<float> weights_of(const View& q, const View& k, int64_t n, int64_t i, int64_t h,
                              float scale, bool is_causal, float* lse) {
  const int64_t keys = k.size(1), head = h / (q.size(2) / k.size(2));
  const int64_t seen = is_causal ? keys - q.size(1) + i + 1 : keys;
  std::vector<float> weights(keys, 0.0F);
  double sum = 0;
  for (int64_t j = 0; j < seen; ++j) {
    float score = 0;
    for (int64_t d = 0; d < q.size(3); ++d) score += q.at(n, i, h, d) * k.at(n, j, head, d);
    sum += weights[j] = std::exp(score * scale);
  }
  for (float& weight : weights) weight = static_cast<float>(weight / sum);
  *lse = static_cast<float>(std::log(sum));
  return weights;
}

template <typename F>
void each_query(const View& q, F&& run) {
  for (int64_t n = 0; n < q.size(0); ++n)
    for (int64_t i = 0; i < q.size(1); ++i)
      for (int64_t h = 0; h < q.size(2); ++h) run(n, i, h);
}

void clear(const View& x) {
  each_query(x, [&](int64_t n, int64_t i, int64_t h) {
    for (int64_t d = 0; d < x.size(3); ++d) x.at(n, i, h, d) = 0;
  });
}

}  // namespace

extern "C" {

diopiError_t diopiFlashAttention(diopiContextHandle_t, diopiTensorHandle_t attention_out,
                                 diopiTensorHandle_t softmax_lse, diopiGeneratorHandle_t,
                                 diopiConstTensorHandle_t q_, diopiConstTensorHandle_t k_,
                                 diopiConstTensorHandle_t v_, diopiConstTensorHandle_t slopes,
                                 float p_dropout, float softmax_scale, bool is_causal, int32_t left,
                                 int32_t right) {
  if (slopes != nullptr || p_dropout != 0 || left != -1 || right != -1) return diopiNoImplement;
  const View out = View::write(attention_out), lse = View::write(softmax_lse);
  const View q = View::read(q_), k = View::read(k_), v = View::read(v_);
  const int64_t group = q.size(2) / k.size(2);
  each_query(q, [&](int64_t n, int64_t i, int64_t h) {
    const auto weights = weights_of(q, k, n, i, h, softmax_scale, is_causal, &lse.at(n, h, i));
    for (int64_t d = 0; d < v.size(3); ++d) {
      float sum = 0;
      for (int64_t j = 0; j < k.size(1); ++j) sum += weights[j] * v.at(n, j, h / group, d);
      out.at(n, i, h, d) = sum;
    }
  });
  return diopiSuccess;
}

diopiError_t diopiFlashAttentionBackward(
    diopiContextHandle_t, diopiTensorHandle_t grad_q, diopiTensorHandle_t grad_k,
    diopiTensorHandle_t grad_v, diopiConstTensorHandle_t grad_output, diopiGeneratorHandle_t,
    diopiConstTensorHandle_t q_, diopiConstTensorHandle_t k_, diopiConstTensorHandle_t v_,
    diopiConstTensorHandle_t, diopiConstTensorHandle_t attention_out, diopiConstTensorHandle_t,
    float, float softmax_scale, bool is_causal, int32_t, int32_t) {
  const View dq = View::write(grad_q), dk = View::write(grad_k), dv = View::write(grad_v);
  const View grad = View::read(grad_output), out = View::read(attention_out);
  const View q = View::read(q_), k = View::read(k_), v = View::read(v_);
  const int64_t group = q.size(2) / k.size(2);
  for (const View& x : {dq, dk, dv}) clear(x);
  each_query(q, [&](int64_t n, int64_t i, int64_t h) {
    float unused = 0, along = 0;
    const auto weights = weights_of(q, k, n, i, h, softmax_scale, is_causal, &unused);
    for (int64_t d = 0; d < v.size(3); ++d) along += grad.at(n, i, h, d) * out.at(n, i, h, d);
    for (int64_t j = 0; j < k.size(1); ++j) {
      float arriving = 0;
      for (int64_t d = 0; d < v.size(3); ++d) {
        arriving += grad.at(n, i, h, d) * v.at(n, j, h / group, d);
        dv.at(n, j, h / group, d) += weights[j] * grad.at(n, i, h, d);
      }
      const float slope = weights[j] * (arriving - along) * softmax_scale;
      for (int64_t d = 0; d < q.size(3); ++d) {
        dq.at(n, i, h, d) += slope * k.at(n, j, h / group, d);
        dk.at(n, j, h / group, d) += slope * q.at(n, i, h, d);
      }
    }
  });
  return diopiSuccess;
}

// Product of two matrices.
diopiError_t diopiMatmul(diopiContextHandle_t, diopiTensorHandle_t out,
                         diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  const View c = View::write(out), a = View::read(input), b = View::read(other);
  if (a.rank() != 2 || b.rank() != 2) return diopiNoImplement;
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < b.size(1); ++j) {
      float sum = 0;
      for (int64_t k = 0; k < a.size(1); ++k) sum += a.at(i, k) * b.at(k, j);
      c.at(i, j) = sum;
    }
  }
  return diopiSuccess;
}

}  // extern "C"
