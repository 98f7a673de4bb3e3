// Operands of a convolution as a matrix product, packed directly from images: a column for each
// window position, a row for each tap (channel and position within the window).
#ifndef DL_KERNELS_CPU_WINDOW_H_
#define DL_KERNELS_CPU_WINDOW_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/gemm.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int kMaxWindow = 64;  // on one axis

// TapWindow position p reads the image at p · step + shift[tap], for each of `taps` shifts.
struct WindowAxis {
  int64_t image, positions, step;
  int taps;
  int64_t shift[kMaxWindow];
};

struct TapWindow {
  WindowAxis axes[3];
  int64_t channels, channel_step, sample_step;  // of the image, in elements

  int64_t positions() const { return axes[0].positions * axes[1].positions * axes[2].positions; }
  int64_t cells() const { return int64_t(axes[0].taps) * axes[1].taps * axes[2].taps; }
  int64_t taps() const { return channels * cells(); }
};

// Positions that are consecutive on one line of one sample.
struct Run {
  int64_t lane, count;  // offset and length in the packed operand
  int64_t sample, z, y, x;
};

// Call f(Run) for the lines that contain the `count` positions from `first` on.
template <class F>
DL_FN void each_run(const TapWindow& window, int64_t first, int64_t count, const F& f) {
  const int64_t width = window.axes[2].positions, height = window.axes[1].positions,
                depth = window.axes[0].positions;
  int64_t x = first % width, line = first / width;
  for (int64_t lane = 0; lane < count;) {
    const int64_t run = width - x < count - lane ? width - x : count - lane;
    f(Run{lane, run, line / (height * depth), line / height % depth, line % height, x});
    lane += run;
    ++line;
    x = 0;
  }
}

// The positions [*begin, *end) of a run whose tap with this shift is inside the image.
DL_FN void inside(const WindowAxis& axis, const Run& run, int64_t shift, int64_t* begin,
                  int64_t* end) {
  const int64_t first = run.x * axis.step + shift, room = axis.image - first;
  *begin = first >= 0 ? 0 : (-first + axis.step - 1) / axis.step;
  *end = room <= 0 ? 0 : (room + axis.step - 1) / axis.step;
  if (*end > run.count) *end = run.count;
  if (*begin > *end) *begin = *end;
}

// A position within the window: an index for each axis.
struct TapIndex {
  int64_t channel;
  int z, y, x;

  TapIndex(const TapWindow& window, int64_t tap) {
    const int64_t cells = window.cells();
    channel = tap / cells;
    const int cell = static_cast<int>(tap % cells);
    x = cell % window.axes[2].taps;
    y = cell / window.axes[2].taps % window.axes[1].taps;
    z = cell / window.axes[2].taps / window.axes[1].taps;
  }
  void next(const TapWindow& window) {
    if (++x < window.axes[2].taps) return;
    x = 0;
    if (++y < window.axes[1].taps) return;
    y = 0;
    if (++z < window.axes[0].taps) return;
    z = 0;
    ++channel;
  }
};

// Return the line of the image that a run reads at a position in the window, or null outside the
// image; the element of its first position is at x · step + shift.
template <class T>
DL_FN const T* image_line(const TapWindow& window, const T* image, const Run& run,
                          const TapIndex& index) {
  const WindowAxis &z = window.axes[0], &y = window.axes[1];
  const int64_t iz = run.z * z.step + z.shift[index.z], iy = run.y * y.step + y.shift[index.y];
  if (iz < 0 || iz >= z.image || iy < 0 || iy >= y.image) return nullptr;
  return image + run.sample * window.sample_step + index.channel * window.channel_step +
         (iz * y.image + iy) * window.axes[2].image;
}

// An operand whose lines are positions from `start` on and whose elements are the taps.
template <class T>
struct Columns {
  const TapWindow& window;
  const T* image;
  int64_t start;

  template <int height, class C>
  void pack(C* to, int64_t first, int64_t count, int64_t k0, int64_t depth) const {
    const WindowAxis& x = window.axes[2];
    for (int64_t i = 0; i < count; i += height, to += height * depth) {
      const int64_t lanes = count - i < height ? count - i : int64_t(height);
      Run runs[height];
      int run_count = 0;
      each_run(window, start + first + i, lanes, [&](const Run& run) { runs[run_count++] = run; });
      TapIndex index(window, k0);
      for (int64_t k = 0; k < depth; ++k, index.next(window)) {
        C* row = to + k * height;
        if (run_count == 1 && lanes == height && x.step == 1) {
          // The common case, with a length known at compile time.
          const T* line = image_line(window, image, runs[0], index);
          const int64_t at = runs[0].x + x.shift[index.x];
          if (line != nullptr && at >= 0 && at + height <= x.image) {
            for (int64_t j = 0; j < height; ++j) row[j] = cast<C>(line[at + j]);
            continue;
          }
        }
        for (int64_t j = 0; j < height; ++j) row[j] = C(0);
        for (int r = 0; r < run_count; ++r) {
          const T* line = image_line(window, image, runs[r], index);
          if (line == nullptr) continue;
          const int64_t shift = x.shift[index.x];
          int64_t begin, end;
          inside(x, runs[r], shift, &begin, &end);
          const T* from = line + runs[r].x * x.step + shift;
          C* lane = row + runs[r].lane;
          if (x.step == 1) {
            for (int64_t j = begin; j < end; ++j) lane[j] = cast<C>(from[j]);
          } else {
            for (int64_t j = begin; j < end; ++j) lane[j] = cast<C>(from[j * x.step]);
          }
        }
      }
    }
  }
};

// An operand whose lines are taps and whose elements are positions from `start` on, the terms of a
// weight gradient's sums.
template <class T>
struct Taps {
  const TapWindow& window;
  const T* image;
  int64_t start;

  template <int height, class C>
  void pack(C* to, int64_t first, int64_t count, int64_t k0, int64_t depth) const {
    const WindowAxis& x = window.axes[2];
    for (int64_t i = 0; i < count; i += height, to += height * depth) {
      const int64_t lanes = count - i < height ? count - i : int64_t(height);
      for (int64_t e = 0; e < height * depth; ++e) to[e] = C(0);
      each_run(window, start + k0, depth, [&](const Run& run) {
        TapIndex index(window, first + i);
        for (int64_t lane = 0; lane < lanes; ++lane, index.next(window)) {
          const T* line = image_line(window, image, run, index);
          if (line == nullptr) continue;
          const int64_t shift = x.shift[index.x];
          int64_t begin, end;
          inside(x, run, shift, &begin, &end);
          const T* from = line + run.x * x.step + shift;
          C* column = to + run.lane * height + lane;
          for (int64_t j = begin; j < end; ++j) column[j * height] = cast<C>(from[j * x.step]);
        }
      });
    }
  }
};

// An operand whose lines are the channels of a contiguous image and whose elements are its
// positions, one sample after the other.
template <class T>
struct TapPlanes {
  const T* image;
  int64_t plane, sample_step, start;

  template <int height, class C>
  void pack(C* to, int64_t first, int64_t count, int64_t k0, int64_t depth) const {
    for (int64_t i = 0; i < count; i += height, to += height * depth) {
      const int64_t lanes = count - i < height ? count - i : int64_t(height);
      for (int64_t k = 0; k < depth;) {
        const int64_t sample = (start + k0 + k) / plane, cell = (start + k0 + k) % plane;
        const int64_t length = plane - cell < depth - k ? plane - cell : depth - k;
        pack_panel<height>(to + k * height,
                           image + sample * sample_step + (first + i) * plane + cell, plane,
                           int64_t(1), lanes, length);
        k += length;
      }
    }
  }
};

// An output whose rows are channels of an image and whose columns are window positions from `start`
// on; position p of an axis is written at p · step + offset.
template <class O>
struct ImageTarget {
  const TapWindow& window;  // whose positions are the columns
  O* image;
  int64_t start, channel_step, sample_step;
  int64_t step[3], offset[3], height, width;  // of the output image

  template <class C>
  void write(int64_t i, int64_t j, int64_t rows, int64_t columns, const C* tile, int64_t tile_row,
             C alpha, C beta) const {
    each_run(window, start + j, columns, [&](const Run& run) {
      O* to = image + run.sample * sample_step + i * channel_step +
              ((run.z * step[0] + offset[0]) * height + run.y * step[1] + offset[1]) * width +
              run.x * step[2] + offset[2];
      write_tile(to, channel_step, step[2], rows, run.count, tile + run.lane, tile_row, alpha,
                 beta);
    });
  }
};

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_WINDOW_H_
