// Label sequences for connectionist temporal classification (CTC): padded or concatenated.
#ifndef DL_KERNELS_NORM_LABEL_SEQUENCES_H_
#define DL_KERNELS_NORM_LABEL_SEQUENCES_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

struct LabelSequences {
  const int64_t* labels;
  const int64_t* steps;    // of each input
  const int64_t* lengths;  // of each sequence
  const int64_t* starts;   // null: every sequence is padded to `padded` labels
  int64_t count, padded, blank;

  // Return the label of a state, with blanks between and around the labels. The bounds check
  // matters on a GPU, where an invalid sequence has been reported but does not stop the work.
  DL_FN int64_t state(int64_t n, int64_t s) const {
    if (s % 2 == 0) return blank;
    const int64_t at = (starts == nullptr ? n * padded : starts[n]) + s / 2;
    return at < count ? labels[at] : blank;
  }
  DL_FN bool differ(int64_t n, int64_t s, int64_t other) const {
    return s % 2 != 0 && state(n, s) != state(n, other);
  }
};

namespace detail {

struct BadLength {
  const int64_t* indexes;
  int64_t most;

  DL_FN bool operator()(int64_t i) const { return indexes[i] < 0 || indexes[i] > most; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_NUMBER,
                "length {value} of sequence {position} is not between 0 and {high}");
    error.value = indexes[i];
    error.position = i;
    error.high = most;
  }
};

// Compute the beginnings of concatenated sequences.
struct StartsRow {
  int64_t* starts;
  const int64_t* lengths;
  int64_t samples;

  // A template, because nvcc does not allow a __host__ __device__ function to call a block's device
  // functions.
  template <class AnyBlock>
  DL_FN void operator()(const AnyBlock& block, int64_t) const {
    const int64_t* const sizes = lengths;
    int64_t* const to = starts;
    block.template scan<int64_t>(
        samples, [=](int64_t n) { return sizes[n]; }, [](int64_t a, int64_t b) { return a + b; },
        [=](int64_t n, int64_t end) { to[n] = end - sizes[n]; });
  }
};

struct EndsBeyond {
  const int64_t *starts, *lengths;
  int64_t count;

  DL_FN bool operator()(int64_t n) const { return starts[n] + lengths[n] > count; }
  DL_FN void describe(int64_t n, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_NUMBER,
                "sequence {position} ends at {value}; there are {high} targets");
    error.value = starts[n] + lengths[n];
    error.position = n;
    error.high = count;
  }
};

// Check that labels within a sequence are classes.
struct NoLabel {
  const int64_t* indexes;
  LabelSequences sequences;
  int64_t samples, classes;

  DL_FN bool operator()(int64_t i) const {
    if (indexes[i] >= 0 && indexes[i] < classes) return false;
    if (sequences.starts == nullptr)
      return i % sequences.padded < sequences.lengths[i / sequences.padded];
    return samples > 0 && i < sequences.starts[samples - 1] + sequences.lengths[samples - 1];
  }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "target {value} at position {position} is out of range for {high} classes");
    error.value = indexes[i];
    error.position = i;
    error.high = classes;
  }
};

}  // namespace detail

// The checked sequences of a call.
class CheckedSequences {
 public:
  CheckedSequences(diopiContextHandle_t ctx, const char* op, const TensorRef& targets,
                   const TensorRef& input_lengths, const TensorRef& target_lengths)
      : op_(op),
        launch_(ctx),
        targets_(targets),
        labels_(ctx, op, targets),
        steps_(ctx, op, input_lengths),
        lengths_(ctx, op, target_lengths),
        fits_(input_lengths.numel == target_lengths.numel),
        samples_(target_lengths.numel) {}

  // Open `samples` inputs of at most `steps` steps, and sequences of at most `longest` labels.
  diopiError_t open(int64_t samples, int64_t steps, int64_t classes, int64_t longest,
                    int64_t blank) {
    DL_TRY(first_status(labels_, steps_, lengths_));
    if (!fits_ || samples_ != samples)
      return fail(op_, "input_lengths and target_lengths need %lld elements", (long long)samples);
    const bool padded = targets_.ndim == 2;
    if (padded ? targets_.sizes[0] != samples : targets_.ndim != 1)
      return fail(op_, "targets have neither one dimension nor a row for each of %lld samples",
                  (long long)samples);
    const int64_t room = padded ? targets_.sizes[1] : targets_.numel;
    const int64_t most = longest < room ? longest : room;
    DL_TRY(good_steps_.open(launch_, op_, detail::BadLength{steps_.data(), steps}, samples, 0));
    DL_TRY(good_lengths_.open(launch_, op_, detail::BadLength{lengths_.data(), most}, samples, 0));
    const int64_t* const lengths = good_lengths_.data();
    int64_t* starts = nullptr;
    if (!padded) {
      starts = starts_.reserve(launch_, samples);
      rows(launch_, 1, samples, detail::StartsRow{starts, lengths, samples});
      DL_TRY(
          check_items(launch_, op_, samples, detail::EndsBeyond{starts, lengths, targets_.numel}));
    }
    sequences_ = {labels_.data(), good_steps_.data(), lengths,
                  starts,         targets_.numel,     padded ? targets_.sizes[1] : 0,
                  blank};
    DL_TRY(good_labels_.open(launch_, op_,
                             detail::NoLabel{labels_.data(), sequences_, samples, classes},
                             targets_.numel, blank));
    sequences_.labels = good_labels_.data();
    return diopiSuccess;
  }

  const LabelSequences& sequences() const { return sequences_; }

 private:
  const char* op_;
  Launch launch_;
  TensorRef targets_;
  DenseInput<int64_t> labels_, steps_, lengths_;
  bool fits_;
  int64_t samples_;
  CheckedIndexes good_steps_, good_lengths_, good_labels_;
  Workspace<int64_t> starts_;
  LabelSequences sequences_{};
};

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_LABEL_SEQUENCES_H_
