// b = 2 a, and errors that a candidate may have.
#include "dl_cpu_kernel.h"

constexpr int MODE = 0;  // tunable

static_assert(MODE != 6, "mode 6 does not compile");

DL_CPU_KERNEL(twice) {
  float* a = dl_cpu_argument<float*>(arguments, 0);
  volatile float* b = dl_cpu_argument<float*>(arguments, 1);
  const int64_t count = dl_cpu_argument<int64_t>(arguments, 2);
  const int rounds = MODE == 0 ? 20 : 1;
  for (int round = 0; round < rounds; ++round)
    for (int64_t i = 0; i < count; ++i) b[i] = 2 * a[i];
  if (MODE == 2) b[count / 2] = b[count / 2] * 1.00001f;
  if (MODE == 3) *static_cast<volatile int*>(nullptr) = 1;
  if (MODE == 4) b[count] = 0;
  if (MODE == 5) a[0] = 1;
}
