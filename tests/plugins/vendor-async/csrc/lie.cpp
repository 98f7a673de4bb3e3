#include "lie.h"

#include <atomic>

namespace dl::async_test {
namespace {

std::atomic<Lie> told{Lie::kNone};

}  // namespace

bool lie_is(Lie lie) { return told == lie; }
void set_lie(Lie lie) { told = lie; }

}  // namespace dl::async_test
