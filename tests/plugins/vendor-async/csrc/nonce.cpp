#include "nonce.h"

#include <sys/random.h>

#include "error.h"

namespace dl::async_test {

Nonce new_nonce() {
  Nonce nonce;
  if (getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size()))
    throw Error(DL_ERROR, "the system returned no random bytes", "getrandom");
  return nonce;
}

}  // namespace dl::async_test
