// A libnccl.so.2 for tests, implemented in the kit.
#include "nccl/nccl.cpp"
