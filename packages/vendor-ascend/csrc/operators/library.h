// CANN's operator library: opened on the first call of an operator.
//
//   dl::ascend::OperatorLibrary library{[] { return recent_error_text(); }};
//   library.backend()                     for the vendor's method operator_library(ctx)
#ifndef DL_ASCEND_OPERATORS_LIBRARY_H_
#define DL_ASCEND_OPERATORS_LIBRARY_H_

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/library/symbols.h"
#include "dl/kit/library/two_phase.h"
#include "generated/functions.gen.h"
#include "operators/objects.h"

namespace dl::ascend {

class OperatorLibrary {
 public:
  explicit OperatorLibrary(std::function<std::string()> recent_error)
      : libraries_({kFacts.libraries, kFacts.libraries + kFacts.library_count}, folders(),
                   "install CANN's toolkit and kernels, and run 'source .../set_env.sh'"),
        objects_(libraries_, std::move(recent_error)),
        backend_(kFacts, libraries_, objects_) {}

  dl::kit::library::TwoPhaseBackend<Objects>& backend() { return backend_; }
  dl::kit::library::LibrarySet& libraries() { return libraries_; }

 private:
  static std::vector<std::string> folders() {
    std::vector<std::string> found;
    for (const char* variable : {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"}) {
      const char* const root = std::getenv(variable);
      if (root != nullptr && *root != '\0') found.push_back(std::string(root) + "/lib64");
    }
    return found;
  }

  dl::kit::library::LibrarySet libraries_;
  Objects objects_;
  dl::kit::library::TwoPhaseBackend<Objects> backend_;
};

}  // namespace dl::ascend

#endif  // DL_ASCEND_OPERATORS_LIBRARY_H_
