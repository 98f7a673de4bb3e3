// A libhiprtc.so for tests, implemented next to the fake driver, which runs its code.
#include "hip/rtc/hiprtc.cpp"
