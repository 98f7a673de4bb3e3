// A librccl.so.1 for tests, implemented in the kit.
#define FAKE_NCCL_HIP 1
#include "nccl/nccl.cpp"
