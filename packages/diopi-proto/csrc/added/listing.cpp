#include "added/listing.h"

#include "dl/checked_status.hpp"

namespace dl::added {
namespace {

using checked::format;

// Returns a violation of the interface as a clause; empty if there is none.
std::string find_defect(const dl_added_operators_t& found) {
  if (found.count > checked::kMostOperators)
    return format("lists %" PRIu64 " operators", found.count);
  foreign::Pages pages;
  const void* address = found.operators;
  if (found.count > 0 && !foreign::readable(address, found.count * sizeof(dl_operator_t), pages))
    return format("lists operators at %p, which is not memory of this process", address);
  for (uint64_t i = 0; i < found.count; ++i) {
    const dl_operator_t& one = found.operators[i];
    if (one.name == nullptr || foreign::text_length(one.name, 256, pages) < 0)
      return format("lists an operator without a name, number %" PRIu64, i);
    if (one.function != nullptr && !checked::callable(one.function))
      return "lists " + foreign::read_text(one.name, 256) + " with a function that is not code";
  }
  if (found.last_error != nullptr && !checked::callable(found.last_error))
    return "returns a last_error that is not code";
  return {};
}

}  // namespace

Listing list_operators(dl_operators_entry_v1_t entry, const dl_operators_target_t& target) {
  Listing listing;
  if (!checked::callable(entry)) {
    listing.defect = "is not code";
    return listing;
  }
  dl_added_operators_t found{};
  found.struct_size = sizeof found;
  dl_status_t* const status =
      checked::guarded([&] { return checked::take(entry(&target, &found)); });
  if (status != nullptr) {
    listing.refusal = status->message;
    status->release(status);
    return listing;
  }
  listing.defect = find_defect(found);
  if (!listing.defect.empty()) return listing;
  listing.version = foreign::read_text(found.version, 200);
  listing.operators.assign(found.operators, found.operators + found.count);
  listing.last_error = found.last_error;
  return listing;
}

}  // namespace dl::added
