// Attention and rotary embeddings, written out in double precision.
#include <cmath>
#include <limits>

#include "arguments.gen.h"
#include "precision.h"

using namespace fake_aclnn;

namespace {

constexpr int64_t kLanes = 8;  // equal copies of a row's statistic

// A float64 tensor [batches, heads, rows, columns] with access to its elements.
class Block {
 public:
  explicit Block(const Tensor& tensor) : tensor_(tensor.to(diopi_dtype_float64).contiguous()) {
    demand(tensor_.rank() == 4, "a tensor does not have the dimensions of its layout");
  }
  double& at(int64_t b, int64_t n, int64_t s, int64_t d) const {
    return static_cast<double*>(tensor_.data())[((b * size(1) + n) * size(2) + s) * size(3) + d];
  }
  int64_t size(int64_t dim) const { return tensor_.size(dim); }
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

Block zeros_like(const Block& other) {
  return Block(empty(other.tensor().sizes(), diopi_dtype_float64));
}

// Splits the last dimension into heads of `width` elements.
Tensor split_heads(const Tensor& tensor, int64_t width) {
  demand(width > 0 && tensor.size(-1) % width == 0, "the heads do not divide the hidden size");
  Sizes sizes = tensor.sizes(), strides = tensor.strides();
  const int64_t unit = strides.back();
  sizes.back() /= width;
  strides.back() *= width;
  sizes.push_back(width);
  strides.push_back(unit);
  return tensor.view(sizes, strides);
}

// Returns the view [batch, heads, sequence, width] of a tensor in a layout.
Tensor by_heads(const Tensor& tensor, const std::string& layout, int64_t width) {
  if (layout == "BNSD") return tensor;
  if (layout == "BSND") return tensor.permute({0, 2, 1, 3});
  if (layout == "BSH") return split_heads(tensor, width).permute({0, 2, 1, 3});
  if (layout == "SBH") return split_heads(tensor, width).permute({1, 2, 0, 3});
  refuse_because("inputLayout " + layout + " is not supported");
}
int64_t head_width(const Tensor& query, const std::string& layout, int64_t heads) {
  const bool joined = layout == "BSH" || layout == "SBH";
  demand(heads > 0, "the number of heads is not positive");
  if (joined) {
    demand(query.rank() == 3 && query.size(-1) % heads == 0, "the heads do not divide query");
    return query.size(-1) / heads;
  }
  demand(query.rank() == 4 && query.size(layout == "BNSD" ? 1 : 2) == heads,
         "headNum is not the number of heads of query");
  return query.size(-1);
}

// The keys that a query may not see.
struct Hidden {
  Tensor mask;  // absent, or 1 for hidden keys; broadcasts to [batch, heads, queries, keys]
  int64_t sparse, before, after;

  Hidden(Tensor which, int64_t mode, int64_t pre, int64_t next)
      : mask(std::move(which)), sparse(mode), before(pre), after(next) {}
  // Prepares the mask for these sizes.
  void prepare(int64_t b, int64_t n, int64_t s, int64_t t) {
    demand(sparse >= 0 && sparse <= 3, "this sparseMode is not simulated");
    demand(mask || sparse == 0, "this sparseMode needs a mask");
    if (!mask) return;
    if (sparse >= 2) {
      demand(mask.size(-1) == 2048 && mask.size(-2) == 2048,
             "the mask of a causal sparseMode is not [2048, 2048]");
      return;
    }
    demand(mask.dtype() == diopi_dtype_bool || mask.dtype() == diopi_dtype_uint8 ||
               mask.dtype() == diopi_dtype_int8,
           "the mask is neither bool nor of one byte");
    wide_ = mask.expand({b, n, s, t}).contiguous();
  }
  bool operator()(int64_t b, int64_t n, int64_t i, int64_t j, int64_t queries, int64_t keys) const {
    if (!mask) return false;
    if (sparse == 2) return j > i;
    if (sparse == 3) return j > i + keys - queries;
    if (sparse == 0 && (j - i > after || i - j > before)) return true;
    const int64_t place = ((b * wide_.size(1) + n) * wide_.size(2) + i) * wide_.size(3) + j;
    return static_cast<const uint8_t*>(wide_.data())[place] != 0;
  }

 private:
  Tensor wide_;
};

struct Problem {
  Block q, k, v;
  double scale;
  Hidden hidden;
  Tensor shift;  // added to the scores before scaling; absent, or broadcasts as the mask

  Problem(const Tensor& query, const Tensor& key, const Tensor& value, double by, Hidden which,
          const Tensor& added)
      : q(query), k(key), v(value), scale(by), hidden(std::move(which)), shift(added) {
    demand(k.size(0) == q.size(0) && v.size(0) == q.size(0), "the batches differ");
    demand(k.size(2) == v.size(2) && k.size(1) == v.size(1), "key and value have other sizes");
    demand(k.size(3) == q.size(3), "query and key have other head sizes");
    demand(k.size(1) != 0 && q.size(1) % k.size(1) == 0,
           "the heads of query are not a multiple of those of key");
    hidden.prepare(q.size(0), q.size(1), q.size(2), k.size(2));
    if (shift)
      shift = shift.to(diopi_dtype_float64)
                  .expand({q.size(0), q.size(1), q.size(2), k.size(2)})
                  .contiguous();
  }
  int64_t key_head(int64_t n) const { return n / (q.size(1) / k.size(1)); }
  // Returns the score, -infinity for a hidden key.
  double score(int64_t b, int64_t n, int64_t i, int64_t j) const {
    if (hidden(b, n, i, j, q.size(2), k.size(2))) return -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (int64_t d = 0; d < q.size(3); ++d) sum += q.at(b, n, i, d) * k.at(b, key_head(n), j, d);
    if (shift)
      sum += static_cast<const double*>(
          shift.data())[((b * q.size(1) + n) * q.size(2) + i) * k.size(2) + j];
    return sum * scale;
  }
};

// Computes the output, and the maximum and the sum of exponentials of each row.
void attend(const Problem& problem, const Block& out, const Block* maxima, const Block* sums) {
  const Block& q = problem.q;
  std::vector<double> weights(static_cast<size_t>(problem.k.size(2)));
  for (int64_t b = 0; b < q.size(0); ++b) {
    for (int64_t n = 0; n < q.size(1); ++n) {
      for (int64_t i = 0; i < q.size(2); ++i) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
        for (size_t j = 0; j < weights.size(); ++j) {
          weights[j] = problem.score(b, n, i, static_cast<int64_t>(j));
          largest = std::isnan(weights[j]) ? weights[j] : std::max(largest, weights[j]);
        }
        const bool any = largest != -std::numeric_limits<double>::infinity();
        for (double& weight : weights) sum += weight = any ? std::exp(weight - largest) : 0;
        for (int64_t d = 0; d < out.size(3); ++d) {
          double total = 0;
          for (size_t j = 0; j < weights.size(); ++j)
            total += weights[j] * problem.v.at(b, problem.key_head(n), static_cast<int64_t>(j), d);
          out.at(b, n, i, d) = any ? total / sum : 0;
        }
        for (int64_t lane = 0; maxima != nullptr && lane < kLanes; ++lane) {
          maxima->at(b, n, i, lane) = largest;
          sums->at(b, n, i, lane) = sum;
        }
      }
    }
  }
}

struct Gradients {
  Block q, k, v;
};

// Computes the gradients from the stored statistics and the stored output.
void differentiate(const Problem& problem, const Block& dy, const Block& out, const Block& maxima,
                   const Block& sums, const Gradients& gradients) {
  const Block& q = problem.q;
  for (int64_t b = 0; b < q.size(0); ++b) {
    for (int64_t n = 0; n < q.size(1); ++n) {
      const int64_t head = problem.key_head(n);
      for (int64_t i = 0; i < q.size(2); ++i) {
        double inner = 0;
        for (int64_t d = 0; d < dy.size(3); ++d) inner += dy.at(b, n, i, d) * out.at(b, n, i, d);
        for (int64_t j = 0; j < problem.k.size(2); ++j) {
          const double score = problem.score(b, n, i, j);
          if (score == -std::numeric_limits<double>::infinity()) continue;
          const double weight = std::exp(score - maxima.at(b, n, i, 0)) / sums.at(b, n, i, 0);
          double change = 0;
          for (int64_t d = 0; d < dy.size(3); ++d) {
            change += dy.at(b, n, i, d) * problem.v.at(b, head, j, d);
            gradients.v.at(b, head, j, d) += weight * dy.at(b, n, i, d);
          }
          const double slope = weight * (change - inner) * problem.scale;
          for (int64_t d = 0; d < q.size(3); ++d) {
            gradients.q.at(b, n, i, d) += slope * problem.k.at(b, head, j, d);
            gradients.k.at(b, head, j, d) += slope * q.at(b, n, i, d);
          }
        }
      }
    }
  }
}

void demand_no_dropout(const Tensor& mask, double keep) {
  demand(!mask && keep == 1, "dropout inside attention is not simulated");
}

// The rows of sequence b of a tensor [tokens, heads, width], as [1, heads, rows, width].
Tensor sequence_of(const Tensor& tensor, int64_t start, int64_t end) {
  return tensor.narrow(0, start, end - start).permute({1, 0, 2}).unsqueeze(0);
}

// Calls the body with the token ranges of each sequence; the lists hold cumulative lengths.
template <typename F>
void for_each_sequence(const Ints& queries, const Ints& keys, F body) {
  demand(queries.size() == keys.size(), "the lists of lengths have different sizes");
  int64_t q = 0, k = 0;
  for (size_t b = 0; b < queries.values.size(); ++b) {
    demand(queries[b] >= q && keys[b] >= k, "the lengths are not cumulative");
    body(q, queries[b], k, keys[b]);
    q = queries[b];
    k = keys[b];
  }
}

// The part of a mask [most queries, most keys] that belongs to a sequence.
Tensor mask_part(const Tensor& mask, int64_t sparse, int64_t queries, int64_t keys) {
  if (!mask || sparse >= 2) return mask;
  return mask.narrow(-2, 0, queries).narrow(-1, 0, keys);
}

}  // namespace

MEANING(FlashAttentionScore) {
  demand_no_dropout(dropMaskOptional, keepProb);
  check_inner(innerPrecise);
  demand(!prefixOptional.present, "prefixes are not simulated");
  const int64_t width = head_width(query, inputLayout, headNum);
  const Problem problem(by_heads(query, inputLayout, width), by_heads(key, inputLayout, width),
                        by_heads(value, inputLayout, width), scaleValue,
                        {attenMaskOptional, sparseMode, preTokens, nextTokens}, realShiftOptional);
  const Tensor result = by_heads(attentionOutOut, inputLayout, width);
  const Sizes rows = {problem.q.size(0), headNum, problem.q.size(2), kLanes};
  demand(softmaxMaxOut.sizes() == rows && softmaxSumOut.sizes() == rows,
         "softmaxMaxOut and softmaxSumOut are not [B, N, S, 8]");
  const Block out(empty(result.sizes(), diopi_dtype_float64));
  const Block maxima(empty(rows, diopi_dtype_float64)), sums(empty(rows, diopi_dtype_float64));
  demand(out.size(3) == problem.v.size(3), "the output has another head size than value");
  attend(problem, out, &maxima, &sums);
  assign(result, out.tensor());
  assign(softmaxMaxOut, maxima.tensor());
  assign(softmaxSumOut, sums.tensor());
}
MEANING(FlashAttentionScoreGrad) {
  demand_no_dropout(dropMaskOptional, keepProb);
  check_inner(innerPrecise);
  demand(!prefixOptional.present, "prefixes are not simulated");
  const int64_t width = head_width(query, inputLayout, headNum);
  const Problem problem(by_heads(query, inputLayout, width), by_heads(keyIn, inputLayout, width),
                        by_heads(value, inputLayout, width), scaleValue,
                        {attenMaskOptional, sparseMode, preTokens, nextTokens}, pseShiftOptional);
  const Sizes rows = {problem.q.size(0), headNum, problem.q.size(2), kLanes};
  demand(softmaxMaxOptional.sizes() == rows && softmaxSumOptional.sizes() == rows,
         "softmaxMaxOptional and softmaxSumOptional are not [B, N, S, 8]");
  const Gradients gradients{zeros_like(problem.q), zeros_like(problem.k), zeros_like(problem.v)};
  const Block change(by_heads(dy, inputLayout, width));
  demand(change.size(2) == problem.q.size(2) && change.size(3) == problem.v.size(3),
         "dy does not have the shape of the output");
  differentiate(problem, change, Block(by_heads(attentionInOptional, inputLayout, width)),
                Block(softmaxMaxOptional), Block(softmaxSumOptional), gradients);
  assign(by_heads(dqOut, inputLayout, width), gradients.q.tensor());
  assign(by_heads(dkOut, inputLayout, width), gradients.k.tensor());
  assign(by_heads(dvOut, inputLayout, width), gradients.v.tensor());
}
// Sequences of different lengths, concatenated: [tokens, heads, width].
MEANING(FlashAttentionVarLenScore) {
  demand_no_dropout(dropMaskOptional, keepProb);
  check_inner(innerPrecise);
  demand(inputLayout == "TND" && query.rank() == 3, "inputLayout is not TND");
  demand(query.size(1) == headNum, "headNum is not the number of heads of query");
  demand(!prefixOptional.present && !realShiftOptional, "this option is not simulated");
  for_each_sequence(actualSeqQLenOptional, actualSeqKvLenOptional,
                    [&](int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
                      const Problem problem(
                          sequence_of(query, q0, q1), sequence_of(key, k0, k1),
                          sequence_of(value, k0, k1), scaleValue,
                          {mask_part(attenMaskOptional, sparseMode, q1 - q0, k1 - k0), sparseMode,
                           preTokens, nextTokens},
                          Tensor());
                      const Sizes rows = {1, headNum, q1 - q0, kLanes};
                      const Tensor result = sequence_of(attentionOutOut, q0, q1);
                      const Block out(empty(result.sizes(), diopi_dtype_float64));
                      const Block maxima(empty(rows, diopi_dtype_float64));
                      const Block sums(empty(rows, diopi_dtype_float64));
                      attend(problem, out, &maxima, &sums);
                      assign(result, out.tensor());
                      assign(sequence_of(softmaxMaxOut, q0, q1), maxima.tensor());
                      assign(sequence_of(softmaxSumOut, q0, q1), sums.tensor());
                    });
}
MEANING(FlashAttentionUnpaddingScoreGrad) {
  demand_no_dropout(dropMaskOptional, keepProb);
  check_inner(innerPrecise);
  demand(inputLayout == "TND" && query.rank() == 3, "inputLayout is not TND");
  demand(query.size(1) == headNum, "headNum is not the number of heads of query");
  demand(!prefixOptional.present && !pseShiftOptional, "this option is not simulated");
  for_each_sequence(actualSeqQLenOptional, actualSeqKvLenOptional,
                    [&](int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
                      const Problem problem(
                          sequence_of(query, q0, q1), sequence_of(keyIn, k0, k1),
                          sequence_of(value, k0, k1), scaleValue,
                          {mask_part(attenMaskOptional, sparseMode, q1 - q0, k1 - k0), sparseMode,
                           preTokens, nextTokens},
                          Tensor());
                      const Gradients gradients{zeros_like(problem.q), zeros_like(problem.k),
                                                zeros_like(problem.v)};
                      differentiate(problem, Block(sequence_of(dy, q0, q1)),
                                    Block(sequence_of(attentionInOptional, q0, q1)),
                                    Block(sequence_of(softmaxMaxOptional, q0, q1)),
                                    Block(sequence_of(softmaxSumOptional, q0, q1)), gradients);
                      assign(sequence_of(dqOut, q0, q1), gradients.q.tensor());
                      assign(sequence_of(dkOut, k0, k1), gradients.k.tensor());
                      assign(sequence_of(dvOut, k0, k1), gradients.v.tensor());
                    });
}
// Inference of whole prompts; a sequence ends at its actual length.
MEANING(PromptFlashAttention) {
  demand(!pseShift, "pseShift is not NULL");
  const int64_t width = head_width(query, inputLayout, numHeads);
  const Tensor q = by_heads(query, inputLayout, width), k = by_heads(key, inputLayout, width);
  const Tensor v = by_heads(value, inputLayout, width);
  const Tensor result = by_heads(attentionOut, inputLayout, width);
  demand(k.size(1) == (numKeyValueHeads == 0 ? numHeads : numKeyValueHeads),
         "numKeyValueHeads is not the number of heads of key");
  demand(!actualSeqLengths.present || actualSeqLengths.size() == q.size(0) ||
             actualSeqLengths.size() == 1,
         "actualSeqLengths does not have one entry per sequence");
  RUN(diopiFill, attentionOut, Scalar::of(0));
  for (int64_t b = 0; b < q.size(0); ++b) {
    int64_t length = q.size(2), keys = k.size(2);
    if (actualSeqLengths.present) {
      length = actualSeqLengths[actualSeqLengths.size() == 1 ? 0 : static_cast<size_t>(b)];
      demand(length >= 0 && length <= q.size(2), "a length is out of range");
      keys = std::min(keys, length);
    }
    if (length == 0) continue;
    Tensor part = attenMask;
    if (part && part.rank() == 3) part = part.unsqueeze(1);
    if (part && part.rank() == 4 && part.size(0) > 1) part = part.narrow(0, b, 1);
    const Problem problem(q.narrow(0, b, 1).narrow(2, 0, length),
                          k.narrow(0, b, 1).narrow(2, 0, keys),
                          v.narrow(0, b, 1).narrow(2, 0, keys), scaleValue,
                          {mask_part(part, 0, length, keys), 0, preTokens, nextTokens}, Tensor());
    const Tensor rows = result.narrow(0, b, 1).narrow(2, 0, length);
    const Block out(empty(rows.sizes(), diopi_dtype_float64));
    attend(problem, out, nullptr, nullptr);
    assign(rows, out.tensor());
  }
}
// Inference of one token per sequence over a cache, which may be paged.
MEANING(IncreFlashAttentionV4) {
  for (const Tensor& option : {pseShift, dequantScale1, quantScale1, dequantScale2, quantScale2,
                               quantOffset2, antiquantScale, antiquantOffset, kvPaddingSize})
    demand(!option, "this option is not simulated");
  const int64_t width = head_width(query, inputLayout, numHeads);
  const int64_t key_heads = numKeyValueHeads == 0 ? numHeads : numKeyValueHeads;
  const Tensor q = by_heads(query, inputLayout, width);
  const Tensor result = by_heads(attentionOut, inputLayout, width);
  demand(q.size(2) == 1, "query has more than one token per sequence");
  demand(key.size() == 1 && value.size() == 1, "lists of more than one cache are not simulated");
  const bool paged = static_cast<bool>(blocktable);
  demand(!paged || (blockSize > 0 && actualSeqLengths.present),
         "a paged cache needs blockSize and actualSeqLengths");
  for (int64_t b = 0; b < q.size(0); ++b) {
    const auto cache = [&](const Tensor& whole) {
      if (!paged) return by_heads(whole, inputLayout, width).narrow(0, b, 1);
      // [blocks, blockSize, heads * width]: gather the rows of this sequence.
      demand(whole.rank() == 3 && whole.size(1) == blockSize, "a cache is not [blocks, size, H]");
      const Tensor table = blocktable.to(diopi_dtype_int64).contiguous();
      const auto* blocks = static_cast<const int64_t*>(table.data()) + b * table.size(1);
      const int64_t length = actualSeqLengths[static_cast<size_t>(b)];
      Tensor rows = empty({length, whole.size(2)}, whole.dtype());
      for (int64_t row = 0; row < length; ++row) {
        const int64_t block = blocks[row / blockSize];
        demand(block >= 0 && block < whole.size(0), "blocktable has a block out of range");
        assign(rows.select(0, row), whole.select(0, block).select(0, row % blockSize));
      }
      return split_heads(rows, width).permute({1, 0, 2}).unsqueeze(0);
    };
    Tensor k = cache(key[0]), v = cache(value[0]);
    demand(k.size(1) == key_heads, "numKeyValueHeads is not the number of heads of key");
    int64_t length = k.size(2);
    if (actualSeqLengths.present)
      length = actualSeqLengths[actualSeqLengths.size() == 1 ? 0 : static_cast<size_t>(b)];
    demand(length <= k.size(2), "a length is out of range");
    k = k.narrow(2, 0, length);
    v = v.narrow(2, 0, length);
    Tensor hidden;
    if (attenMask && attenMask.numel() != 0) {
      const Tensor lines = attenMask.reshape({attenMask.size(0), attenMask.size(-1)});
      hidden = lines.narrow(0, lines.size(0) == 1 ? 0 : b, 1).narrow(1, 0, length);
    }
    const Problem problem(q.narrow(0, b, 1), k, v, scaleValue, {hidden, hidden ? 1 : 0, 0, 0},
                          Tensor());
    const Tensor rows = result.narrow(0, b, 1);
    const Block out(empty(rows.sizes(), diopi_dtype_float64));
    attend(problem, out, nullptr, nullptr);
    assign(rows, out.tensor());
  }
}

namespace {

// x * cos + rotated * sin, where `rotated` pairs elements half a row apart, or adjacent ones.
void rotate(const Tensor& out, const Tensor& x, const Tensor& cos, const Tensor& sin,
            bool interleaved) {
  const Dtype wide = diopi_dtype_float64;
  const Tensor from = x.to(wide).contiguous();
  const Tensor c = cos.to(wide).expand(x.sizes()).contiguous();
  const Tensor s = sin.to(wide).expand(x.sizes()).contiguous();
  const Tensor to = empty(x.sizes(), wide);
  const int64_t width = x.size(-1), half = width / 2;
  demand(width % 2 == 0, "the last dimension is odd");
  const auto* values = static_cast<const double*>(from.data());
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t column = i % width, row = i - column;
    const bool first = interleaved ? column % 2 == 0 : column < half;
    const int64_t step = interleaved ? 1 : half;
    const double rotated = first ? -values[row + column + step] : values[row + column - step];
    static_cast<double*>(to.data())[i] = values[i] * static_cast<const double*>(c.data())[i] +
                                         rotated * static_cast<const double*>(s.data())[i];
  }
  assign(out, to);
}

}  // namespace

MEANING(RotaryPositionEmbedding) {
  demand(mode == 0 || mode == 1, "this mode is not simulated");
  rotate(out, x, cos, sin, mode == 1);
}
MEANING(ApplyRotaryPosEmb) {
  demand(layout == 1 || layout == 4, "layout is neither 1 nor 4");
  demand(queryRef.rank() == (layout == 1 ? 4 : 3), "query does not have the rank of the layout");
  demand(queryRef.size(-1) == 64 || queryRef.size(-1) == 128, "the head size is not 64 or 128");
  rotate(queryRef, queryRef, cos, sin, false);
  rotate(keyRef, keyRef, cos, sin, false);
}
