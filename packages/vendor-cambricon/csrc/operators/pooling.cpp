#include "operators/pooling.h"

#include <algorithm>
#include <limits>

#include "dl/kit/library/helpers.h"
#include "dl/kit/library/host_elements.h"
#include "operators/helpers.h"

namespace dl::cambricon {
namespace {

// The windows along one dimension.
struct Line {
  int64_t size, count, kernel, stride, padding, dilation;

  // Cells from the first one of a window to its last.
  int64_t reach() const { return dilation * (kernel - 1) + 1; }
  int64_t first(int64_t window) const { return window * stride - padding; }
};

// The windows along a dimension of images: 0 or 1.
Line line_of(const lib::View& input, const lib::View& out, const lib::Ints& kernel,
             const lib::Ints& stride, const lib::Ints& padding, const lib::Ints& dilation,
             int32_t d) {
  if (input.ndim != 4 || out.ndim != 4) lib::refuse("images have four dimensions");
  const auto i = static_cast<size_t>(d);
  Line line{input.sizes[2 + d],    out.sizes[2 + d],
            lib::pair(kernel)[i],  lib::pair(lib::stride(stride, kernel))[i],
            lib::pair(padding)[i], lib::pair(dilation)[i]};
  if (line.kernel < 1 || line.stride < 1 || line.dilation < 1 || line.padding < 0 ||
      line.padding > line.kernel / 2)
    lib::refuse("invalid windows");
  return line;
}

// The windows that fit; with ceil_mode, also one that starts inside of the image or its left
// padding, and ends beyond.
int64_t windows_of(const Line& line, bool ceil_mode) {
  const int64_t room = line.size + 2 * line.padding - line.reach();
  if (room < 0) return 0;
  int64_t count = (room + (ceil_mode ? line.stride - 1 : 0)) / line.stride + 1;
  if (ceil_mode && (count - 1) * line.stride >= line.size + line.padding) --count;
  return count;
}

}  // namespace

bool is_pooled(const lib::View& input, const lib::View& out, const lib::Ints& kernel,
               const lib::Ints& stride, const lib::Ints& padding, const lib::Ints& dilation,
               bool ceil_mode) {
  for (int32_t d = 0; d < 2; ++d) {
    const Line line = line_of(input, out, kernel, stride, padding, dilation, d);
    if (input.sizes[d] != out.sizes[d] || line.count != windows_of(line, ceil_mode)) return false;
  }
  return true;
}

lib::Ints padded_shape(const lib::View& input, const lib::View& out, const lib::Ints& kernel,
                       const lib::Ints& stride, const lib::Ints& padding,
                       const lib::Ints& dilation) {
  lib::Ints shape{input.sizes[0], input.sizes[1]};
  for (int32_t d = 0; d < 2; ++d) {
    const Line line = line_of(input, out, kernel, stride, padding, dilation, d);
    const int64_t end = (line.count - 1) * line.stride + line.reach();
    shape.push_back(std::max(line.padding + line.size, end));
  }
  return shape;
}

lib::View inside(const lib::View& padded, const lib::View& input, const lib::Ints& padding) {
  lib::View view = padded;
  for (int32_t d = 0; d < 2; ++d) {
    const int64_t start = lib::pair(padding)[static_cast<size_t>(d)];
    view = lib::slice(view, 2 + d, start, start + input.sizes[2 + d], 1);
  }
  return view;
}

lib::View windows(const lib::View& padded, const lib::View& out, const lib::Ints& kernel,
                  const lib::Ints& stride, const lib::Ints& dilation) {
  lib::View view = padded;
  for (int32_t d = 0; d < 2; ++d) {
    const Line line = line_of(padded, out, kernel, stride, {0}, dilation, d);
    const int64_t end = (line.count - 1) * line.stride + line.reach();
    view = lib::slice(view, 2 + d, 0, end, 1);
    view = lib::unfolded(view, 2 + d, line.reach(), line.stride);
    view = lib::slice(view, -1, 0, line.reach(), line.dilation);
  }
  return view;
}

lib::View cells(lib::Call& call, const lib::View& input, const lib::View& out,
                const lib::Ints& kernel, const lib::Ints& stride, const lib::Ints& padding,
                const lib::Ints& dilation) {
  const Line rows = line_of(input, out, kernel, stride, padding, dilation, 0);
  const Line columns = line_of(input, out, kernel, stride, padding, dilation, 1);
  const auto cell = [&](int64_t row, int64_t column) { return row * columns.size + column; };
  // The first place of a window in the image.
  const auto start = [](const Line& line, int64_t window) {
    const int64_t first = line.first(window);
    return first >= 0 ? first
                      : first + (-first + line.dilation - 1) / line.dilation * line.dilation;
  };
  const lib::View made =
      call.temporary(lib::Dtype{diopi_dtype_int32},
                     {1, 1, rows.count, columns.count, rows.kernel * columns.kernel});
  lib::fill_from_host(call, made, [&](void* memory) {
    auto* next = static_cast<int32_t*>(memory);
    for (int64_t y = 0; y < rows.count; ++y) {
      for (int64_t x = 0; x < columns.count; ++x) {
        const int64_t outside = cell(start(rows, y), start(columns, x));
        for (int64_t i = 0; i < rows.kernel; ++i) {
          const int64_t row = rows.first(y) + i * rows.dilation;
          for (int64_t j = 0; j < columns.kernel; ++j) {
            const int64_t column = columns.first(x) + j * columns.dilation;
            const bool is_inside =
                row >= 0 && row < rows.size && column >= 0 && column < columns.size;
            *next++ = static_cast<int32_t>(is_inside ? cell(row, column) : outside);
          }
        }
      }
    }
  });
  return made;
}

lib::View rows(const lib::View& x) { return lib::merged(x, x.ndim - 2, x.ndim); }

lib::View planes(const lib::View& x) { return lib::merged(x, x.ndim - 2, x.ndim); }

lib::Scalar lowest(const lib::View& like) {
  if (!lib::is_floating(like)) lib::refuse("integers have no infinity");
  return element(lib::scalar_of(-std::numeric_limits<double>::infinity()), like);
}

}  // namespace dl::cambricon
