#ifndef DL_ASYNC_TEST_NONCE_H_
#define DL_ASYNC_TEST_NONCE_H_

#include <array>
#include <cstdint>

namespace dl::async_test {

/** Unpredictable bytes that never repeat. */
using Nonce = std::array<uint8_t, 16>;

/** Throws Error if the system has no random numbers. */
Nonce new_nonce();

}  // namespace dl::async_test

#endif
