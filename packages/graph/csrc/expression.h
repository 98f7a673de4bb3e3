// Sizes as expressions over symbols: 4, "batch", ["*", "batch", 4].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json.h"

namespace dl::graph {

// Symbol of an entry. Its index is its position in a tuple of sizes.
struct Symbol {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
};

using Symbols = std::vector<Symbol>;
using Sizes = std::vector<int64_t>;

struct Range {
  int64_t min;
  int64_t max;
};

class Expression {
 public:
  enum class Op : uint8_t { kConstant, kSymbol, kAdd, kSub, kMul, kDiv, kMod, kMax, kMin };

  Expression() = default;
  // Throws Failure if it is not an expression, has an undeclared symbol or more than 32 levels.
  Expression(const Json& json, const Symbols& symbols, int depth = 0);

  // Returns the value for these sizes. Throws Failure if a step overflows or a divisor is <= 0.
  int64_t value(const Sizes& sizes) const;
  // Returns the range of its values for all sizes. Throws Failure if a step may overflow int64 or a
  // divisor may be zero or negative.
  Range range(const Symbols& symbols) const;

  bool is_constant() const { return op_ == Op::kConstant; }
  // Returns the index of the symbol if the expression is just a symbol, else -1.
  int64_t symbol() const { return op_ == Op::kSymbol ? number_ : -1; }
  std::string text(const Symbols& symbols) const;

 private:
  Op op_ = Op::kConstant;
  int64_t number_ = 0;  // the constant, or the index of the symbol
  std::vector<Expression> operands_;
};

// Condition that each run must satisfy: ["<=", a, b].
struct Guard {
  Guard(const Json& json, const Symbols& symbols);
  bool holds(const Sizes& sizes) const;
  std::string text(const Symbols& symbols) const;

  std::string relation;
  Expression left;
  Expression right;
};

}  // namespace dl::graph
