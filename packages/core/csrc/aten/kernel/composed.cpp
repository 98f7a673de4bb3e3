#include "aten/kernel/composed.h"

namespace dl::core {

std::vector<std::string>& composed_operators() {
  static auto* names = new std::vector<std::string>;
  return *names;
}

}  // namespace dl::core
