// Cambricon's operator library, opened on the first call of an operator.
#ifndef DL_CAMBRICON_OPERATORS_LIBRARY_H_
#define DL_CAMBRICON_OPERATORS_LIBRARY_H_

#include "dl/kit/library/handle_descriptors.h"
#include "dl/kit/library/symbols.h"
#include "generated/functions.gen.h"
#include "operators/objects.h"

namespace dl::cambricon {

using OperatorBackend = kit::library::HandleDescriptorsBackend<Objects>;

class OperatorLibrary {
 public:
  OperatorLibrary()
      : libraries_(cnnl_names(), {}, "install CNNL and set NEUWARE_HOME"),
        backend_(kFacts, libraries_, objects_) {}

  OperatorBackend& backend() { return backend_; }

 private:
  kit::library::LibrarySet libraries_;
  Objects objects_;
  OperatorBackend backend_;
};

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_LIBRARY_H_
