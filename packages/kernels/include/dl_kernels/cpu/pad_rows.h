// CPU: padding of tensors whose last dimension is adjacent, plane by plane. The positions of the
// cells at the ends of a row are the same in all rows, and only the row number changes within a
// plane.
#ifndef DL_KERNELS_CPU_PAD_ROWS_H_
#define DL_KERNELS_CPU_PAD_ROWS_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/layout/pad_axes.h"

DL_KERNELS_BEGIN

namespace detail {

// One row: the cells before the input's, the input's, and those after.
template <class U>
class PaddedRow {
 public:
  PaddedRow(const PadAxes& axes, U fill)
      : mode_(axes.mode), axis_(axes.axis[axes.ndim - 1]), fill_(fill) {
    begin_ = axis_.before < 0 ? 0 : axis_.before;
    end_ = axis_.before + axis_.input;
    begin_ = begin_ > axis_.output ? axis_.output : begin_;
    end_ = end_ > axis_.output ? axis_.output : end_ < begin_ ? begin_ : end_;
    tabled_ = mode_ != PadMode::constant && begin_ + axis_.output - end_ <= kTable;
    if (!tabled_) return;
    for (int64_t i = 0; i < begin_; ++i) table_[i] = source(i);
    for (int64_t i = end_; i < axis_.output; ++i) table_[i - end_ + begin_] = source(i);
  }

  void write(U* to, const U* from) const {
    if (from == nullptr) {
      fill(to, 0, axis_.output);
      return;
    }
    if (mode_ == PadMode::constant) {
      fill(to, 0, begin_);
      fill(to, end_, axis_.output);
    } else if (tabled_) {
      const int64_t begin = begin_, count = begin_ + axis_.output - end_;
      for (int64_t i = 0; i < begin; ++i) to[i] = from[table_[i]];
      for (int64_t i = begin; i < count; ++i) to[i + (end_ - begin)] = from[table_[i]];
    } else {
      repeat(to, from, 0, begin_);
      repeat(to, from, end_, axis_.output);
    }
    if (begin_ == end_) return;
    std::memcpy(static_cast<void*>(to + begin_), from + (begin_ - axis_.before),
                static_cast<size_t>(end_ - begin_) * sizeof(U));
  }

 private:
  void fill(U* to, int64_t begin, int64_t end) const {
    const U value = fill_;
    for (int64_t i = begin; i < end; ++i) to[i] = value;
  }
  void repeat(U* to, const U* from, int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i) to[i] = from[source(i)];
  }
  int64_t source(int64_t i) const { return padded_source(mode_, i - axis_.before, axis_.input); }

  static constexpr int64_t kTable = 64;

  PadMode mode_;
  PadAxis axis_;
  U fill_;
  int64_t begin_, end_;
  bool tabled_;  // table_ has the sources of all cells outside [begin_, end_)
  int64_t table_[kTable];
};

}  // namespace detail

template <class U>
void pad_rows(const Launch& launch, const PadAxes& axes, int64_t count, U* out, const U* in,
              U fill) {
  const detail::PaddedRow<U> row(axes, fill);
  // A vector is one plane with one row.
  const int64_t outer = axes.ndim - 2;
  const PadAxis lines = outer < 0 ? PadAxis{0, 1, 1, 0, 0} : axes.axis[outer];
  const auto body = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      int64_t plane = at / lines.output;
      int64_t y = at - plane * lines.output;
      const int64_t last = end - at < lines.output - y ? y + end - at : lines.output;
      at += last - y;
      U* to = out;
      const U* from = in;
      bool inside = true;
      for (int64_t d = outer - 1; d >= 0; --d) {
        const PadAxis& axis = axes.axis[d];
        const int64_t position = plane % axis.output;
        plane /= axis.output;
        to += position * axis.out_stride;
        const int64_t source = padded_source(axes.mode, position - axis.before, axis.input);
        inside = inside && source >= 0;
        if (inside) from += source * axis.in_stride;
      }
      for (; y < last; ++y) {
        const int64_t source = padded_source(axes.mode, y - lines.before, lines.input);
        row.write(to + y * lines.out_stride,
                  inside && source >= 0 ? from + source * lines.in_stride : nullptr);
      }
    }
  };
  launch.parallel_for(count, grain_for(axes.axis[axes.ndim - 1].output), body);
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_PAD_ROWS_H_
