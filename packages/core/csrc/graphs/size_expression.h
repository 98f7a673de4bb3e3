// Symbolic sizes of contract graphs: arithmetic that detects int64 overflow.
#pragma once

#include <cstdint>
#include <vector>

namespace dl::core {

using Sizes = std::vector<int64_t>;

class SizeExpression {
 public:
  enum Op : int64_t { kNumber, kSymbol, kAdd, kSub, kMul, kDiv, kMod, kMax, kMin };

  SizeExpression(int64_t number) : steps_{kNumber, number} {}
  // Pairs (op, number) in postfix order, where the number is a constant or the index of a symbol.
  // Throws c10::Error for an invalid expression.
  SizeExpression(std::vector<int64_t> steps, size_t symbols);

  // Returns false if a step overflows int64 or has a divisor that is not positive.
  bool value(const Sizes& symbols, int64_t& out) const;

 private:
  std::vector<int64_t> steps_;
};

}  // namespace dl::core
