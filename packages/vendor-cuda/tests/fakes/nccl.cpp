// A libnccl.so.2 for tests; what it plays stands in the kit.
#include "fake_nccl/nccl.cpp"
