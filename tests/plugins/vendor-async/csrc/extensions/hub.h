#ifndef DL_ASYNC_TEST_EXTENSIONS_HUB_H_
#define DL_ASYNC_TEST_EXTENSIONS_HUB_H_

#include <cstdint>
#include <memory>

#include "extensions/meeting.h"
#include "nonce.h"

namespace dl::async_test {

/** Accept ranks of other processes into the worlds of this one, from the first call on. Return the
 * address that they need. */
Nonce open_hub();
/** Return true if the nonce belongs to this process. */
bool is_hub(const Nonce& nonce);

/** Return a world of this process. Throws Error if it does not exist, is used up, or has other
 * ranks. */
std::shared_ptr<World> local_world(uint64_t number, int32_t ranks);

}  // namespace dl::async_test

#endif
