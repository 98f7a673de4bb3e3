// Planes with two or three spatial axes in both memory formats: contiguous and channels-last; in
// the latter, vector instructions run over the channels.
#ifndef DL_KERNELS_IMAGE_PLANES_H_
#define DL_KERNELS_IMAGE_PLANES_H_

#include <cstdint>
#include <initializer_list>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/image/image.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Memory order is [outer, z, y, x, inner]. Two-dimensional planes have extent 1 along z,
// one-dimensional ones along z and y.
struct Planes {
  int64_t outer, inner;
  Axis z, y, x;
  DL_FN int64_t input_cells() const { return z.input * y.input * x.input; }
  DL_FN int64_t output_cells() const { return z.output * y.output * x.output; }
};

// Return true if an (N, C, …) tensor is channels-last without gaps.
inline bool channels_inside(const TensorRef& tensor, int spatial) {
  if (tensor.ndim != spatial + 2 || tensor.strides[1] != 1) return false;
  int64_t next = tensor.sizes[1];
  for (int64_t d = tensor.ndim - 1; d >= 0; d = d == 2 ? 0 : d - 1) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != next) return false;
    next *= tensor.sizes[d];
    if (d == 0) break;
  }
  return true;
}

// Channels-last order is used if all tensors have it, and not all are row-major.
inline bool all_channels_inside(std::initializer_list<TensorRef> tensors, int spatial) {
  bool row_major = true;
  for (const TensorRef& tensor : tensors) {
    if (!channels_inside(tensor, spatial)) return false;
    row_major = row_major && tensor.contiguous;
  }
  return !row_major;
}

// A view of a tensor with its dimensions in memory order.
class InMemoryOrder {
 public:
  InMemoryOrder(const TensorRef& tensor, bool inside) : ref_(tensor) {
    if (!inside) return;
    const int64_t last = tensor.ndim - 1;
    for (int64_t d = 0; d <= last; ++d) {
      const int64_t from = d == 0 ? 0 : d == last ? 1 : d + 1;
      sizes_[d] = tensor.sizes[from];
      strides_[d] = tensor.strides[from];
    }
    ref_.sizes = sizes_;
    ref_.strides = strides_;
    ref_.contiguous = true;
  }
  InMemoryOrder(const InMemoryOrder&) = delete;
  InMemoryOrder& operator=(const InMemoryOrder&) = delete;
  const TensorRef& ref() const { return ref_; }

 private:
  TensorRef ref_;
  int64_t sizes_[5], strides_[5];
};

// Fill in the sizes of planes from the tensors, (N, C, …) or (C, …).
inline diopiError_t make_planes(const char* op, const TensorRef& input, const TensorRef& output,
                                int spatial, bool inside, Planes* planes) {
  const int64_t fewest = spatial + 1;
  if ((input.ndim != fewest && input.ndim != fewest + 1) || output.ndim != input.ndim) {
    return fail(op, "tensors with %lld and %lld dimensions were given; both need %lld or %lld",
                (long long)input.ndim, (long long)output.ndim, (long long)fewest,
                (long long)fewest + 1);
  }
  const int64_t c = input.ndim - fewest;
  for (int64_t d = 0; d <= c; ++d) {
    if (input.sizes[d] != output.sizes[d]) {
      return fail(op, "tensors with %lld and %lld elements in dim %lld were given; they must agree",
                  (long long)input.sizes[d], (long long)output.sizes[d], (long long)d);
    }
  }
  const int64_t samples = c == 1 ? input.sizes[0] : 1, channels = input.sizes[c];
  planes->outer = inside ? samples : samples * channels;
  planes->inner = inside ? channels : 1;
  Axis* const axes[3] = {&planes->z, &planes->y, &planes->x};
  for (int i = 0; i < 3; ++i) {
    const int64_t d = c + 1 + i - (3 - spatial);
    const bool present = i >= 3 - spatial;
    *axes[i] = {present ? input.sizes[d] : 1, present ? output.sizes[d] : 1, 1, 1, 0, 1};
  }
  return diopiSuccess;
}

// Window parameters: given as lists, or adaptive. With `ceil`, the last window may reach beyond the
// padding.
struct WindowLists {
  diopiSize_t kernel, stride, padding, dilation;
  bool ceil, adaptive;
};
constexpr diopiSize_t kNoList{nullptr, 0};
constexpr WindowLists kAdaptive{kNoList, kNoList, kNoList, kNoList, false, true};

// Number of windows of an axis; with `ceil`, including one that begins within the input and ends
// beyond it.
inline int64_t window_count(const Axis& axis, bool ceil) {
  const int64_t room = axis.input + 2 * axis.padding - (axis.kernel - 1) * axis.dilation - 1 +
                       (ceil ? axis.stride - 1 : 0);
  const int64_t count = room < 0 ? 0 : room / axis.stride + 1;
  return ceil && count > 0 && axis.start(count - 1) >= axis.input ? count - 1 : count;
}

// Check that planes are not empty.
inline diopiError_t check_cells(const char* op, const Planes& planes) {
  if (planes.input_cells() > 0) return diopiSuccess;
  return fail(op, "there is nothing to pool: planes of the input have no elements");
}

// Set the windows of the last `spatial` axes, whose number follows from the output.
inline diopiError_t set_windows(const char* op, int spatial, const WindowLists& lists,
                                Planes* planes) {
  DL_TRY(check_axis_list(op, "kernel sizes", lists.kernel, spatial));
  DL_TRY(check_axis_list(op, "strides", lists.stride, spatial));
  DL_TRY(check_axis_list(op, "paddings", lists.padding, spatial));
  DL_TRY(check_axis_list(op, "dilations", lists.dilation, spatial));
  DL_TRY(check_cells(op, *planes));
  // Larger windows would overflow when their cells are counted.
  constexpr int64_t kMostCells = int64_t(1) << 62;
  int64_t cells = 1;
  Axis* const axes[3] = {&planes->z, &planes->y, &planes->x};
  for (int i = 0; i < spatial; ++i) {
    Axis& axis = *axes[3 - spatial + i];
    axis.kernel = axis_value(lists.kernel, i, 1);
    axis.stride = axis_value(lists.stride, i, axis.kernel);
    axis.padding = axis_value(lists.padding, i, 0);
    axis.dilation = axis_value(lists.dilation, i, 1);
    DL_TRY(check_window(op, axis));
    const int64_t span = (axis.kernel - 1) * axis.dilation + 1;
    if (axis.padding > span / 2) {
      return fail(op, "a padding of %lld is more than half of a window, which spans %lld elements",
                  (long long)axis.padding, (long long)span);
    }
    if (axis.kernel > kMostCells / cells) return fail(op, "windows have more than 2^62 elements");
    cells *= axis.kernel;
    const int64_t count = window_count(axis, lists.ceil);
    if (count != axis.output || count == 0) {
      return fail(op,
                  "windows that span %lld elements, stride %lld, padding %lld, on %lld elements "
                  "give %lld outputs%s; the output has %lld",
                  (long long)span, (long long)axis.stride, (long long)axis.padding,
                  (long long)axis.input, (long long)count, lists.ceil ? " with ceil_mode" : "",
                  (long long)axis.output);
    }
  }
  return diopiSuccess;
}

// A range of cells on one axis; `padded` is its length including padding.
struct Window {
  int64_t begin, end, padded;
};

// Return the part of window `o` that is inside the axis; its cells have the stride `dilation`.
DL_FN Window window_at(const Axis& axis, int64_t o) {
  const int64_t start = axis.start(o), stop = start + (axis.kernel - 1) * axis.dilation + 1;
  const int64_t padded_stop = stop < axis.input + axis.padding ? stop : axis.input + axis.padding;
  const int64_t skipped = start < 0 ? (axis.dilation - 1 - start) / axis.dilation : 0;
  return {start + skipped * axis.dilation, stop < axis.input ? stop : axis.input,
          padded_stop - start};
}

// Return window `o` of `count` adaptive windows over `of` cells, as in PyTorch.
DL_FN Window adaptive_window(int64_t o, int64_t count, int64_t of) {
  const int64_t begin = o * of / count, end = ((o + 1) * of + count - 1) / count;
  return {begin, end, end - begin};
}

// Return the windows that cover input cell `i`, without dilation.
DL_FN Window windows_over(const Axis& axis, int64_t i) {
  const int64_t first = i + axis.padding - axis.kernel;  // last start that does not reach i
  const int64_t begin = first < 0 ? 0 : first / axis.stride + 1;
  const int64_t end = (i + axis.padding) / axis.stride + 1;
  return {begin, end < axis.output ? end : axis.output, 0};
}

struct FillWindows {
  Window* windows;
  Axis axis;
  bool adaptive, over_input;
  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    Window* const w = windows;
    const Axis a = axis;
    const bool adapts = adaptive;
    if (over_input) {
      block.map(a.input, [=](int64_t i) {
        w[i] = adapts ? adaptive_window(i, a.input, a.output) : windows_over(a, i);
      });
    } else {
      block.map(a.output, [=](int64_t o) {
        w[o] = adapts ? adaptive_window(o, a.output, a.input) : window_at(a, o);
      });
    }
  }
};

// Tables of the windows of all three axes, by output cell; with `over_input`, of the outputs that
// cover each input cell.
class WindowTables {
 public:
  WindowTables(const Launch& launch, const Planes& planes, bool adaptive, bool over_input) {
    const Axis* const axes[3] = {&planes.z, &planes.y, &planes.x};
    int64_t total = 0;
    for (int i = 0; i < 3; ++i) {
      starts_[i] = total;
      total += over_input ? axes[i]->input : axes[i]->output;
    }
    Window* const all = storage_.reserve(launch, total);
    for (int i = 0; i < 3; ++i) {
      const int64_t n = over_input ? axes[i]->input : axes[i]->output;
      mapped_rows(launch, 1, n, n, FillWindows{all + starts_[i], *axes[i], adaptive, over_input});
    }
  }
  const Window* z() const { return storage_.data() + starts_[0]; }
  const Window* y() const { return storage_.data() + starts_[1]; }
  const Window* x() const { return storage_.data() + starts_[2]; }

 private:
  Workspace<Window> storage_;
  int64_t starts_[3];
};

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_PLANES_H_
