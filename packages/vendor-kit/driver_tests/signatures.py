"""C++ that compares our declarations of functions with a vendor's headers."""

from __future__ import annotations

ALIKE = """
#include <cstddef>
#include <type_traits>

// Types of the same size and kind: pointers match pointers, and integers match enumerations.
template <class A, class B>
constexpr bool alike_v = sizeof(A) == sizeof(B) &&
    std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class A, class B>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
struct Alike<R (*)(A...), S (*)(B...)> {
  template <class... X, class... Y>
  static constexpr bool each(void (*)(X...), void (*)(Y...)) {
    if constexpr (sizeof...(X) != sizeof...(Y)) return false;
    else return (alike_v<X, Y> && ... && true);
  }
  static constexpr bool value = alike_v<R, S> &&
      each(static_cast<void (*)(A...)>(nullptr), static_cast<void (*)(B...)>(nullptr));
};
#define CHECK(member, symbol, ...) \\
  static_assert(Alike<decltype(&::symbol), __VA_ARGS__>::value, #symbol " differs");
"""
"""Definition of ``CHECK(member, symbol, type)``, which fails if a signature differs."""
