// String literals as template arguments: the name of an operator selects its instantiation.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dl::core {

template <size_t N>
struct Text {
  char value[N] = {};
  constexpr Text() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): written as a literal
  constexpr Text(const char (&text)[N]) { std::copy_n(text, N, value); }
};

template <size_t A, size_t B>
constexpr Text<A + B - 1> operator+(const Text<A>& first, const Text<B>& second) {
  Text<A + B - 1> both;
  std::copy_n(first.value, A - 1, both.value);
  std::copy_n(second.value, B, both.value + A - 1);
  return both;
}

// Returns "name.overload", or only the name for an overload without one.
template <size_t A, size_t B>
constexpr Text<A + B> overload_name(const Text<A>& name, const Text<B>& overload) {
  Text<A + B> whole;
  std::copy_n(name.value, A - 1, whole.value);
  if (B > 1) {
    whole.value[A - 1] = '.';
    std::copy_n(overload.value, B, whole.value + A);
  }
  return whole;
}

}  // namespace dl::core
