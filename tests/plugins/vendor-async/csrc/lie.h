#ifndef DL_ASYNC_TEST_LIE_H_
#define DL_ASYNC_TEST_LIE_H_

#include <cstdint>

namespace dl::async_test {

/** A wrong answer that the vendor gives on request, to check that the tests of right answers fail.
 * In the order of DL_ASYNC_TEST_LIE's names in options.cpp. */
enum class Lie : uint32_t {
  kNone,
  kCaptureRunsItsWork,
  kReplaySkipsTheLastNode,
  kActivityEndsBeforeItsStart,
  kActivityIsOfAnotherDevice,
  kActivityIsOfAnotherStream,
  kActivitiesAreOutOfOrder,
  kClockIsASecondOff,
  kClockIsUncertainBelowZero,
  kReductionForgetsARank,
  kPartsAreInTheWrongOrder,
  kRankIsNone,
  kMessageIsOneByteShort,
  kPeerCopyIsOneByteShort,
  kOpenedMemoryIsACopy,
};

/** Return true if the most recent instance gives this wrong answer. */
bool lie_is(Lie lie);
void set_lie(Lie lie);

}  // namespace dl::async_test

#endif
