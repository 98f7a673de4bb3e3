// C = A B in half precision, block by block; two tile shapes determine the loops.
#include "helper/act.hpp"

using L1TileShape = GemmShape<128, 256, 256>;  // tunable
using L0TileShape = GemmShape<128, 256, 64>;   // tunable

// The blocks of a launch share the rows of C.
template <class LayoutA, class LayoutB, class LayoutC>
ACT_GLOBAL void BasicMatmul(GemmCoord problemShape, GM_ADDR gmA, LayoutA layoutA, GM_ADDR gmB,
                            LayoutB layoutB, GM_ADDR gmC, LayoutC layoutC) {
  const auto* a = reinterpret_cast<const half*>(gmA);
  const auto* b = reinterpret_cast<const half*>(gmB);
  auto* c = reinterpret_cast<half*>(gmC);
  const Range rows = share(problemShape.m, AscendC::GetBlockIdx(), AscendC::GetBlockNum());
  const Range columns{0, problemShape.n}, depth{0, problemShape.k};
  static float sums[L1TileShape::M][L1TileShape::N];
  for (Range i : tiles<L1TileShape::M>(rows))
    for (Range j : tiles<L1TileShape::N>(columns)) {
      clear(sums);
      for (Range k : tiles<L1TileShape::K>(depth))
        for (Range ii : tiles<L0TileShape::M>(i))
          for (Range jj : tiles<L0TileShape::N>(j))
            for (Range kk : tiles<L0TileShape::K>(k))
              for (uint32_t row = ii.begin; row < ii.end; ++row)
                for (uint32_t at = kk.begin; at < kk.end; ++at) {
                  const float left = a[layoutA.offset(row, at)];
                  float* sum = sums[row - i.begin];
                  for (uint32_t column = jj.begin; column < jj.end; ++column)
                    sum[column - j.begin] += left * float(b[layoutB.offset(at, column)]);
                }
      for (uint32_t row = i.begin; row < i.end; ++row)
        for (uint32_t column = j.begin; column < j.end; ++column)
          c[layoutC.offset(row, column)] = half(sums[row - i.begin][column - j.begin]);
    }
}
