#include "invoke.h"

namespace dl::graph {

Invoke invoke_of(const Operator& called) {
  static constexpr Invoke kAll[] = {
#define DL_INVOKE(op) &OperatorCall<decltype(::op)>::invoke,
      DIOPI_EACH_OPERATOR(DL_INVOKE)
#undef DL_INVOKE
  };
  return kAll[number_of(called)];
}

}  // namespace dl::graph
