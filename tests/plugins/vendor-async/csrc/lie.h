#ifndef DL_ASYNC_TEST_LIE_H_
#define DL_ASYNC_TEST_LIE_H_

#include <cstdint>

namespace dl::async_test {

/** A wrong answer that the vendor gives on request, so that tests of right answers are seen to
 * fail. In the order of DL_ASYNC_TEST_LIE's names in options.cpp. */
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

/** Whether the instance that was made last tells it. */
bool lie_is(Lie lie);
void set_lie(Lie lie);

}  // namespace dl::async_test

#endif
