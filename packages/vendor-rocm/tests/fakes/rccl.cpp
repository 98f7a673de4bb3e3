// A librccl.so.1 for tests; what it plays stands in the kit.
#define FAKE_NCCL_HIP 1
#include "fake_nccl/nccl.cpp"
