#include "calls/decline.h"

#include <atomic>

#include "calls/call_counts.h"

namespace dl::core {
namespace {

__thread Decline last_decline = {};

uint64_t native_calls_of_thread() {
  return thread_counts == nullptr ? 0 : thread_counts->native.load(std::memory_order_relaxed);
}

}  // namespace

void note_decline(const Site& site, const char* contract_name, diopiError_t code) {
  last_decline = {Decline::Kind::declined, code, &site, contract_name, native_calls_of_thread()};
}

bool note_absence(const Site& site, const char* contract_name) {
  last_decline = {Decline::Kind::absent, diopiSuccess, &site, contract_name,
                  native_calls_of_thread()};
  return false;
}

void note_fixed_order() {
  last_decline = {Decline::Kind::fixed_order, diopiSuccess, nullptr, nullptr,
                  native_calls_of_thread()};
}

std::optional<Decline> take_decline(const Site* site) {
  const Decline found = last_decline;
  if (found.kind == Decline::Kind::none) return std::nullopt;
  last_decline.kind = Decline::Kind::none;
  const bool concerns = found.kind == Decline::Kind::fixed_order || found.site == site;
  if (!concerns || found.native_calls != native_calls_of_thread()) return std::nullopt;
  return found;
}

}  // namespace dl::core
