// Sizes that depend on symbols, as contract graphs have them: arithmetic that says when it leaves
// the integers of 64 bits.
#pragma once

#include <cstdint>
#include <vector>

namespace dl::core {

using Sizes = std::vector<int64_t>;

class SizeExpression {
 public:
  enum Op : int64_t { kNumber, kSymbol, kAdd, kSub, kMul, kDiv, kMod, kMax, kMin };

  SizeExpression(int64_t number) : steps_{kNumber, number} {}
  // Pairs (op, number) in postfix order; the number is that of a constant or the place of a symbol.
  // Throws c10::Error where they are no expression over so many symbols.
  SizeExpression(std::vector<int64_t> steps, size_t symbols);

  // False: a step leaves int64, or divides by what is not positive.
  bool value(const Sizes& symbols, int64_t& out) const;

 private:
  std::vector<int64_t> steps_;
};

}  // namespace dl::core
