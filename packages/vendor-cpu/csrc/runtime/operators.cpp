#include "runtime/operators.h"

namespace dl::cpu {
namespace {

// Made on first use: families add themselves while the library is loaded, in any order.
std::vector<dl_operator_t>& table() {
  static std::vector<dl_operator_t> operators;
  return operators;
}

}  // namespace

Family::Family(std::initializer_list<dl_operator_t> operators) {
  table().insert(table().end(), operators);
}

const std::vector<dl_operator_t>& all_operators() { return table(); }

}  // namespace dl::cpu
