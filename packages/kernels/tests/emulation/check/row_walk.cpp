// Host-side decisions before an elementwise launch, for plans that are too large to run: parts with
// 32-bit offsets cover a plan exactly once, divisions are right, and vectors are used only if every
// row allows it.
#include <cstdio>
#include <cstdlib>

#include "dl_kernels/gpu/row_walk.h"

using namespace dl::kernels;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

void check_dividers() {
  const uint32_t numbers[] = {1,   2,   3,     5,   7,       10,         255,
                              256, 257, 65535, 641, 1000003, 0x7ffffffe, 0x7fffffff};
  for (const uint32_t divisor : numbers) {
    const gpu::Divider divider(divisor);
    for (const uint32_t near : numbers) {
      for (uint32_t dividend = near < 2 ? 0 : near - 2; dividend <= near; ++dividend)
        require(divider.quotient(dividend) == dividend / divisor, "a quotient");
    }
    require(divider.quotient(0) == 0, "a quotient of 0");
  }
}

// Rows of two operands, the second one repeated along the first dimension.
Plan<2> plan_of(int64_t rows, int64_t columns, int64_t row_stride) {
  Plan<2> plan{};
  plan.ndim = 2;
  plan.numel = rows * columns;
  plan.shape[0] = rows;
  plan.shape[1] = columns;
  plan.strides[0][0] = row_stride;
  plan.strides[0][1] = plan.strides[1][1] = 1;
  return plan;
}

void check_parts(const Plan<2>& plan, bool whole) {
  const int64_t none[2] = {};
  int64_t parts = 0, elements = 0, next_row = 0;
  gpu::each_small_part(plan, none, [&](const Plan<2>& part, const int64_t (&first)[2]) {
    ++parts;
    elements += part.numel;
    require(part.numel == part.shape[0] * part.shape[1], "the size of a part");
    require(part.numel <= gpu::kLargest, "a part is too large");
    require((part.shape[0] - 1) * part.strides[0][0] + part.shape[1] - 1 <= gpu::kLargest,
            "a part reaches too far");
    if (part.shape[1] == plan.shape[1]) {
      require(first[0] == next_row * plan.strides[0][0] && first[1] == 0, "where a part begins");
      next_row += part.shape[0];
    }
  });
  require(elements == plan.numel, "parts cover the plan");
  require((parts == 1) == whole, "the number of parts");
}

void check_walks() {
  const auto walk = gpu::make_row_walk(plan_of(10, 1000, 1000), 8);
  require(walk.rows == 10 && walk.iterations == 125 && walk.lanes.divisor() == 125,
          "a walk by vectors");
  require(walk.groups == 10, "every row has threads of its own");
  const auto narrow = gpu::make_row_walk(plan_of(10, 5, 5), 8);
  require(narrow.iterations == 0 && narrow.lanes.divisor() == 5, "rows shorter than a vector");
  const auto long_rows = gpu::make_row_walk(plan_of(1, gpu::kLargest, gpu::kLargest), 8);
  require(long_rows.threads() <= gpu::kMostThreads, "a launch has too many threads");
  const auto many = gpu::make_row_walk(plan_of(gpu::kLargest / 3, 3, 3), 0);
  require(many.threads() <= gpu::kMostThreads && many.groups > 1, "rows share threads");
  int32_t offsets[2];
  many.begin_of(1000, offsets);
  require(offsets[0] == 3000 && offsets[1] == 0, "where a row begins");
}

void check_alignment() {
  const auto* place = reinterpret_cast<const char*>(uintptr_t(1) << 12);
  require(gpu::has_vectors(plan_of(4, 64, 64), 0, place, 4, 16), "aligned rows");
  require(!gpu::has_vectors(plan_of(4, 64, 64), 0, place + 4, 4, 16), "a view from 1 on");
  require(!gpu::has_vectors(plan_of(4, 63, 63), 0, place, 4, 16), "rows of odd lengths");
  require(gpu::has_vectors(plan_of(4, 63, 64), 0, place, 4, 16), "odd rows with gaps");
  Plan<2> every_other = plan_of(4, 64, 128);
  every_other.strides[0][1] = 2;
  require(!gpu::has_vectors(every_other, 0, place, 4, 16), "every other element");
}

}  // namespace

int main() {
  check_dividers();
  check_parts(plan_of(1, gpu::kLargest, gpu::kLargest), true);
  check_parts(plan_of(2, gpu::kLargest, gpu::kLargest), false);
  check_parts(plan_of(int64_t(1) << 33, 3, 3), false);
  check_parts(plan_of(3, int64_t(1) << 33, int64_t(1) << 33), false);
  check_parts(plan_of(2, 2, int64_t(1) << 40), false);
  check_walks();
  check_alignment();
  std::printf("right\n");
  return 0;
}
