// Test whether two strided tensors have a byte in common: a bounded linear Diophantine equation.
//
// The offset of an element is the sum of its indices times the strides. Two tensors overlap if the
// equation: sum of stride[k] * z[k] = distance between their starts, has a solution, where each
// z[k] has bounds that follow from the sizes. In views of one tensor most strides are multiples of
// the next one, which leaves hardly any choice, so a few steps decide. Adversarial strides may take
// very many steps; the search gives up on them.
#pragma once

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

namespace dl::core {

class StrideEquation {
 public:
  // Adds the term `stride` times 0 … `last`, negated if `negated`. Both are nonnegative.
  void add(int64_t stride, int64_t last, bool negated) {
    if (stride == 0 || last == 0) return;
    for (Term& term : terms_) {
      if (term.stride != stride) continue;
      (negated ? term.low : term.high) += negated ? -last : last;
      return;
    }
    terms_.push_back(negated ? Term{stride, -last, 0} : Term{stride, 0, last});
  }

  // Returns false only if there is certainly no solution; returns true if the search gives up.
  bool may_have_solution(int64_t distance) {
    std::sort(terms_.begin(), terms_.end(),
              [](const Term& a, const Term& b) { return a.stride > b.stride; });
    int64_t low = 0;
    int64_t high = 0;
    int64_t divisor = 0;
    for (size_t i = terms_.size(); i-- > 0;) {
      Term& term = terms_[i];
      term.rest_low = low;
      term.rest_high = high;
      term.rest_divisor = divisor;
      low += term.low * term.stride;
      high += term.high * term.stride;
      divisor = std::gcd(divisor, term.stride);
    }
    int steps = 0;
    return search(0, distance, steps);
  }

 private:
  static constexpr int kMostSteps = 2000;

  struct Term {
    int64_t stride;
    int64_t low;
    int64_t high;
    // Range of the sums of the remaining terms, and their greatest common divisor.
    int64_t rest_low = 0;
    int64_t rest_high = 0;
    int64_t rest_divisor = 0;
  };

  bool search(size_t at, int64_t distance, int& steps) const {
    if (at == terms_.size()) return distance == 0;
    const Term& term = terms_[at];
    const int64_t first = std::max(term.low, ceiling(distance - term.rest_high, term.stride));
    const int64_t last = std::min(term.high, floor(distance - term.rest_low, term.stride));
    for (int64_t z = first; z <= last; ++z) {
      if (++steps > kMostSteps) return true;
      const int64_t rest = distance - z * term.stride;
      if (term.rest_divisor != 0 && rest % term.rest_divisor != 0) continue;
      if (search(at + 1, rest, steps)) return true;
    }
    return false;
  }

  static int64_t floor(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
  static int64_t ceiling(int64_t a, int64_t b) { return -floor(-a, b); }

  c10::SmallVector<Term, 12> terms_;
};

}  // namespace dl::core
