// Sizes as expressions over symbols: 4, "batch", ["*", "batch", 4].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json.h"

namespace dl::graph {

// The symbols of an entry by name; the index is their place in a tuple of sizes.
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
  // Throws Failure: no expression, a symbol that is not declared, more than 32 levels.
  Expression(const Json& json, const Symbols& symbols, int depth = 0);

  // For these sizes. Throws Failure if a step leaves int64 or divides by what is not positive.
  int64_t value(const Sizes& sizes) const;
  // The range of all values that it can have. Throws Failure if a step may leave int64 or divide by
  // a number that is not positive.
  Range range(const Symbols& symbols) const;

  bool is_constant() const { return op_ == Op::kConstant; }
  // The place of the symbol that it is, or -1.
  int64_t symbol() const { return op_ == Op::kSymbol ? number_ : -1; }
  std::string text(const Symbols& symbols) const;

 private:
  Op op_ = Op::kConstant;
  int64_t number_ = 0;  // the constant, or the place of the symbol
  std::vector<Expression> operands_;
};

// A condition that each run must meet: ["<=", a, b].
struct Guard {
  Guard(const Json& json, const Symbols& symbols);
  bool holds(const Sizes& sizes) const;
  std::string text(const Symbols& symbols) const;

  std::string relation;
  Expression left;
  Expression right;
};

}  // namespace dl::graph
