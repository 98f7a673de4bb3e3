#include "graphs/size_expression.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <utility>

namespace dl::core {
namespace {

constexpr size_t kDeepest = 64;

bool apply(int64_t op, int64_t a, int64_t b, int64_t& out) {
  switch (op) {
    case SizeExpression::kAdd:
      return !__builtin_add_overflow(a, b, &out);
    case SizeExpression::kSub:
      return !__builtin_sub_overflow(a, b, &out);
    case SizeExpression::kMul:
      return !__builtin_mul_overflow(a, b, &out);
    case SizeExpression::kDiv:
    case SizeExpression::kMod: {
      if (b <= 0) return false;
      // Floor division, as in Python.
      const int64_t quotient = a / b - (a % b < 0 ? 1 : 0);
      out = op == SizeExpression::kDiv ? quotient : a - quotient * b;
      return true;
    }
    case SizeExpression::kMax:
      out = std::max(a, b);
      return true;
    default:
      out = std::min(a, b);
      return true;
  }
}

}  // namespace

SizeExpression::SizeExpression(std::vector<int64_t> steps, size_t symbols)
    : steps_(std::move(steps)) {
  size_t depth = 0;
  bool right = steps_.size() % 2 == 0;
  for (size_t i = 0; right && i < steps_.size(); i += 2) {
    const int64_t op = steps_[i];
    const int64_t number = steps_[i + 1];
    const bool leaf = op == kNumber || op == kSymbol;
    right = op >= kNumber && op <= kMin && (leaf || depth >= 2) &&
            (op != kSymbol || (number >= 0 && static_cast<size_t>(number) < symbols));
    depth = leaf ? depth + 1 : depth - 1;
    right = right && depth <= kDeepest;
  }
  TORCH_CHECK(right && depth == 1, "[dl] a size of a compiled graph is not a valid expression");
}

bool SizeExpression::value(const Sizes& symbols, int64_t& out) const {
  if (steps_.size() == 2) {
    out = steps_[0] == kNumber ? steps_[1] : symbols[static_cast<size_t>(steps_[1])];
    return true;
  }
  std::array<int64_t, kDeepest> stack{};
  size_t depth = 0;
  for (size_t i = 0; i < steps_.size(); i += 2) {
    if (steps_[i] <= kSymbol) {
      stack[depth++] =
          steps_[i] == kNumber ? steps_[i + 1] : symbols[static_cast<size_t>(steps_[i + 1])];
      continue;
    }
    --depth;
    if (!apply(steps_[i], stack[depth - 1], stack[depth], stack[depth - 1])) return false;
  }
  out = stack[0];
  return true;
}

}  // namespace dl::core
