#ifndef DL_ASYNC_TEST_NONCE_H_
#define DL_ASYNC_TEST_NONCE_H_

#include <array>
#include <cstdint>

namespace dl::async_test {

/** Bytes that nobody guesses and that never come again. */
using Nonce = std::array<uint8_t, 16>;

/** Throws Error if the system has none. */
Nonce new_nonce();

}  // namespace dl::async_test

#endif
