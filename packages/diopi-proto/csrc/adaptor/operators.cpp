#include "adaptor/operators.h"

namespace dl::adaptor {

const Shim* shims() { return shims_of<adapted_call>(); }

}  // namespace dl::adaptor
