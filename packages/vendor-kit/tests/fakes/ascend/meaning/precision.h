// The precision that a caller allows. The fakes compute exactly and log it.
#ifndef FAKE_ASCEND_MEANING_PRECISION_H_
#define FAKE_ASCEND_MEANING_PRECISION_H_

#include <cstdint>
#include <string>

#include "../operators/objects.h"
#include "arguments.gen.h"

namespace fake_aclnn {

// 0: keep the dtype; 1: float32 may become HF32; 2: float16; 3: HF32; 4: sums in float32.
inline void check_cube(int64_t type) {
  demand(type >= 0 && type <= 4, "cubeMathType is not from 0 to 4");
  log_line("cubeMathType " + std::to_string(type));
}

// Attention is precise (0) or fast (1); 2 and 3: the same, for rows that the mask hides as a whole.
inline void check_inner(int64_t inner) {
  demand(inner >= 0 && inner <= 3, "innerPrecise is not from 0 to 3");
  log_line("innerPrecise " + std::to_string(inner));
}

}  // namespace fake_aclnn

#endif  // FAKE_ASCEND_MEANING_PRECISION_H_
