#include "expression.h"

#include <algorithm>

#include "failure.h"

namespace dl::graph {
namespace {

constexpr int kDeepest = 32;
const char* const kSigns[] = {"", "", "+", "-", "*", "//", "%", "max", "min"};

[[noreturn]] void overflow() { throw Failure("the expression overflows 64-bit integers"); }

int64_t narrowed(__int128 wide) {
  if (wide < INT64_MIN || wide > INT64_MAX) overflow();
  return static_cast<int64_t>(wide);
}

// Division rounded down, as in Python, by a positive divisor.
__int128 floor_div(__int128 a, __int128 b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t applied(Expression::Op op, int64_t a, int64_t b) {
  const __int128 x = a;
  const __int128 y = b;
  switch (op) {
    case Expression::Op::kAdd:
      return narrowed(x + y);
    case Expression::Op::kSub:
      return narrowed(x - y);
    case Expression::Op::kMul:
      return narrowed(x * y);
    case Expression::Op::kDiv:
    case Expression::Op::kMod: {
      if (b <= 0) throw Failure("the expression divides by zero or a negative number");
      const __int128 quotient = floor_div(x, y);
      return narrowed(op == Expression::Op::kDiv ? quotient : x - quotient * y);
    }
    case Expression::Op::kMax:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

}  // namespace

Expression::Expression(const Json& json, const Symbols& symbols, int depth) {
  if (depth > kDeepest) throw Failure("the expression has more than 32 levels");
  if (json.is(Json::Kind::kInteger)) {
    number_ = json.integer;
    return;
  }
  if (json.is(Json::Kind::kString)) {
    const auto found = std::find_if(symbols.begin(), symbols.end(),
                                    [&](const Symbol& each) { return each.name == json.string; });
    if (found == symbols.end())
      throw Failure("the symbol " + shown(json.string) + " is not declared; add it to \"symbols\"");
    op_ = Op::kSymbol;
    number_ = found - symbols.begin();
    return;
  }
  if (!json.is(Json::Kind::kArray) || json.array.size() != 3 ||
      !json.array[0].is(Json::Kind::kString))
    throw Failure("not an expression; write an integer, a symbol or [\"+\", a, b]");
  const auto* const sign =
      std::find(std::begin(kSigns) + 2, std::end(kSigns), json.array[0].string);
  if (sign == std::end(kSigns))
    throw Failure("unknown sign " + shown(json.array[0].string) +
                  " of an expression; expected + - * // % max or min");
  op_ = static_cast<Op>(sign - std::begin(kSigns));
  operands_.emplace_back(json.array[1], symbols, depth + 1);
  operands_.emplace_back(json.array[2], symbols, depth + 1);
}

int64_t Expression::value(const Sizes& sizes) const {
  if (op_ == Op::kConstant) return number_;
  if (op_ == Op::kSymbol) return sizes[static_cast<size_t>(number_)];
  return applied(op_, operands_[0].value(sizes), operands_[1].value(sizes));
}

Range Expression::range(const Symbols& symbols) const {
  if (op_ == Op::kConstant) return {number_, number_};
  if (op_ == Op::kSymbol) {
    const Symbol& symbol = symbols[static_cast<size_t>(number_)];
    return {symbol.min, symbol.max};
  }
  const Range a = operands_[0].range(symbols);
  const Range b = operands_[1].range(symbols);
  if (op_ == Op::kSub) return {applied(op_, a.min, b.max), applied(op_, a.max, b.min)};
  if (op_ == Op::kMod) {
    if (b.min <= 0) applied(op_, a.min, b.min);  // throws
    if (a.min == a.max && b.min == b.max) {
      const int64_t value = applied(op_, a.min, b.min);
      return {value, value};
    }
    return {0, a.min >= 0 ? std::min(a.max, b.max - 1) : b.max - 1};
  }
  // The other operations are monotonic in each operand, so the extremes are at the corners.
  const int64_t corners[] = {applied(op_, a.min, b.min), applied(op_, a.min, b.max),
                             applied(op_, a.max, b.min), applied(op_, a.max, b.max)};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

std::string Expression::text(const Symbols& symbols) const {
  if (op_ == Op::kConstant) return std::to_string(number_);
  if (op_ == Op::kSymbol) return symbols[static_cast<size_t>(number_)].name;
  const std::string sign = kSigns[static_cast<size_t>(op_)];
  const std::string a = operands_[0].text(symbols);
  const std::string b = operands_[1].text(symbols);
  if (op_ == Op::kMax || op_ == Op::kMin) return sign + "(" + a + ", " + b + ")";
  return "(" + a + " " + sign + " " + b + ")";
}

Guard::Guard(const Json& json, const Symbols& symbols) {
  if (!json.is(Json::Kind::kArray) || json.array.size() != 3 ||
      !json.array[0].is(Json::Kind::kString) ||
      (json.array[0].string != "==" && json.array[0].string != "<=" && json.array[0].string != "<"))
    throw Failure("not a guard; write [\"==\", a, b], [\"<=\", a, b] or [\"<\", a, b]");
  relation = json.array[0].string;
  left = Expression(json.array[1], symbols);
  right = Expression(json.array[2], symbols);
}

bool Guard::holds(const Sizes& sizes) const {
  const int64_t a = left.value(sizes);
  const int64_t b = right.value(sizes);
  return relation == "==" ? a == b : relation == "<" ? a < b : a <= b;
}

std::string Guard::text(const Symbols& symbols) const {
  return left.text(symbols) + " " + relation + " " + right.text(symbols);
}

}  // namespace dl::graph
