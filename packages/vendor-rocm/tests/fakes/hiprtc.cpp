// A libhiprtc.so for tests; what it plays stands beside the fake driver, which runs its code.
#include "fake_hip/rtc/hiprtc.cpp"
