// Products and sums of sizes that the caller gave and that may exceed 64 bits.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <initializer_list>

namespace dl::core {

// Returns the product of `factors`; throws on int64 overflow. `what` names it in the message.
inline int64_t checked_product(std::initializer_list<int64_t> factors, const char* what) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    TORCH_CHECK(!__builtin_mul_overflow(product, factor, &product), what,
                " overflowed, which is the product of ", c10::ArrayRef<int64_t>(factors));
  }
  return product;
}

// Same, for a sum.
inline int64_t checked_sum(std::initializer_list<int64_t> terms, const char* what) {
  int64_t sum = 0;
  for (const int64_t term : terms) {
    TORCH_CHECK(!__builtin_add_overflow(sum, term, &sum), what, " overflowed, which is the sum of ",
                c10::ArrayRef<int64_t>(terms));
  }
  return sum;
}

}  // namespace dl::core
