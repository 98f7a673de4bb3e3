// The types that the example's kernel uses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

using half = _Float16;

struct GemmCoord {
  uint32_t m, n, k;
};

struct RowMajor {
  uint32_t rows, columns;
  uint32_t offset(uint32_t row, uint32_t column) const { return row * columns + column; }
};

struct ColumnMajor {
  uint32_t rows, columns;
  uint32_t offset(uint32_t row, uint32_t column) const { return column * rows + row; }
};

template <uint32_t kM, uint32_t kN, uint32_t kK>
struct GemmShape {
  static constexpr uint32_t M = kM, N = kN, K = kK;
};

struct Range {
  uint32_t begin, end;
};

// Returns the part of a range that belongs to one block.
inline Range share(uint32_t size, int64_t block, int64_t blocks) {
  const uint32_t each = static_cast<uint32_t>((size + blocks - 1) / blocks);
  const uint32_t begin = std::min(size, static_cast<uint32_t>(block * each));
  return {begin, std::min(size, begin + each)};
}

template <uint32_t kStep>
std::vector<Range> tiles(Range whole) {
  std::vector<Range> found;
  for (uint32_t at = whole.begin; at < whole.end; at += kStep)
    found.push_back({at, std::min(whole.end, at + kStep)});
  return found;
}

template <class Tile>
void clear(Tile& tile) {
  std::memset(&tile, 0, sizeof tile);
}
