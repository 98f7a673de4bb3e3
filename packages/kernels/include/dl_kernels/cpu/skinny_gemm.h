// CPU product of a matrix with dense rows and a few vectors. It is limited by memory bandwidth, so
// the matrix is read once and in place.
#ifndef DL_KERNELS_CPU_SKINNY_GEMM_H_
#define DL_KERNELS_CPU_SKINNY_GEMM_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/gemm_tile.h"
#include "dl_kernels/cpu/gemv.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

namespace detail {

// With more vectors, packing the matrix pays off; sooner with narrow registers, which hold fewer
// sums.
inline constexpr int64_t kMostVectors = kVectorBytes > 16 ? 16 : 4;

// Smallest number of multiplications worth another thread; a register's lanes count as one step.
inline int64_t product_grain(int64_t multiplications) {
  return grain_for((multiplications + 3) / 4);
}

// c = alpha · x · wᵀ + beta · c: the vectors are the rows of x, and element l of row j of w is w[j
// · w_row + l].
template <class T, class O, class C>
struct SkinnyGemm {
  const Launch& launch;
  int64_t count, rows, k;  // numbers of vectors, of w's rows, and of elements of each
  C alpha;
  Matrix<const T> x;
  const T* w;
  int64_t w_row;
  C beta;
  Matrix<O> c;

  using Tile = Gemv<T, C>;
  static constexpr int kLanes = Tile::kLanes;

  // Return true if there are enough rows and elements to fill the registers of a tile.
  static bool takes(int64_t rows, int64_t k) { return rows >= kLanes && k >= kLanes; }

  void run() const {
    if (std::is_same_v<T, C> && x.column == 1 && k % kLanes == 0) {
      with<kMostAtOnce>(reinterpret_cast<const C*>(x.data), x.row);
      return;
    }
    constexpr int64_t kFew = 4096;
    const int64_t size = Tile::spread_size(k);
    alignas(64) C few[kFew];
    Workspace<C> many;
    C* vectors = count * size <= kFew ? few : many.reserve(launch, count * size);
    launch.parallel_for(count, grain_for(size), [&](int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v)
        Tile::spread(vectors + v * size, x.data + v * x.row, x.column, k);
    });
    with<kMostAtOnce>(vectors, size);
  }

 private:
  // Each of these takes one register in addition to the partial sums.
  static constexpr int kMostAtOnce = kLanes >= 16 ? 8 : kLanes / 2;

  template <int vectors>
  void with(const C* from, int64_t step) const {
    if constexpr (vectors > 1) {
      if (count < vectors) {
        with<vectors / 2>(from, step);
        return;
      }
    }
    multiply<vectors>(from, step);
  }

  // Groups of rows of w, the last of which overlaps the one before; the vectors likewise.
  template <int vectors>
  void multiply(const C* from, int64_t step) const {
    constexpr int64_t kRows = Tile::template kRows<vectors>;
    constexpr int64_t kGroups = 512 / kLanes;  // groups at a time, whose sums are kept together
    // This piece of the vectors stays in the first-level cache while rows stream through.
    constexpr int64_t kFits = 24576 / sizeof(C) / vectors / kLanes * kLanes;
    constexpr int64_t kSlice = kFits < Tile::kLongest ? kFits : Tile::kLongest;
    const auto row_of = [&](int64_t group) {
      return (group + 1) * kRows <= rows ? group * kRows : rows - kRows;
    };
    const int64_t groups = (rows + kRows - 1) / kRows;
    launch.parallel_for(groups, product_grain(k * kRows * count), [&](int64_t begin, int64_t end) {
      alignas(64) C sums[kGroups * kLanes];
      for (int64_t first = begin; first < end; first += kGroups) {
        const int64_t last = first + kGroups < end ? first + kGroups : end;
        for (int64_t done = 0; done < count; done += vectors) {
          const int64_t v = done + vectors <= count ? done : count - vectors;
          for (int64_t l = 0; l < k; l += kSlice) {
            const int64_t length = k - l < kSlice ? k - l : kSlice;
            for (int64_t group = first; group < last; ++group) {
              Tile::template multiply<vectors>(w + row_of(group) * w_row + l, w_row, length,
                                               from + v * step + l, step,
                                               sums + (group - first) * kLanes, l > 0);
            }
          }
          for (int64_t i = done - v; i < vectors; ++i) {
            alignas(64) C line[kGroups * kRows];
            const int64_t base = row_of(first);
            for (int64_t group = first; group < last; ++group) {
              std::memcpy(line + row_of(group) - base, sums + (group - first) * kLanes + i * kRows,
                          kRows * sizeof(C));
            }
            // Rows that overlap the group before may be written by another thread.
            const int64_t own = first * kRows;
            write_tile(c.data + (v + i) * c.row + own * c.column, c.row, c.column, 1,
                       row_of(last - 1) + kRows - own, line + own - base, kRows, alpha, beta);
          }
        }
      }
    });
  }
};

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SKINNY_GEMM_H_
