// Flaws of a vendor library that do not prevent loading it, reported to its maintainers and users.
#ifndef DL_TRIAL_FLAWS_H_
#define DL_TRIAL_FLAWS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dl/checked.hpp"

namespace dl::trial {

using Flaws = std::vector<std::string>;

template <class T>
bool has_slot(const T& table, size_t number) {
  const void* slot;
  std::memcpy(
      &slot,
      reinterpret_cast<const char*>(&table) + checked::SlotNames<T>::kFirst + number * sizeof slot,
      sizeof slot);
  return slot != nullptr;
}

// Returns the given slots that the table does not have, separated by commas.
inline std::string list_missing(const dl_vendor_table_t& table, std::set<std::string_view> slots) {
  using Names = checked::SlotNames<dl_vendor_table_t>;
  std::string text;
  for (size_t i = 0; i < Names::kCount; ++i) {
    if (slots.count(Names::kNames[i]) != 0 && !has_slot(table, i))
      text += (text.empty() ? "" : ", ") + std::string(Names::kNames[i]);
  }
  return text;
}

// Finds missing slots that docs/vendor.md requires.
inline void find_missing_slots(const dl_vendor_table_t& table, Flaws& flaws) {
  const auto require = [&](std::set<std::string_view> slots, const char* reason) {
    const std::string text = list_missing(table, std::move(slots));
    if (!text.empty()) flaws.push_back("it has no " + text + ", which " + reason);
  };
  require({"device_count", "memory_allocate", "memory_free", "memory_copy"}, "every vendor needs");
  const std::set<std::string_view> events = {"event_create",      "event_destroy", "event_record",
                                             "event_synchronize", "event_query",   "event_elapsed"};
  if ((table.capabilities & DL_CAP_SYNCHRONOUS) == 0) {
    std::set<std::string_view> slots = events;
    slots.insert({"device_synchronize", "stream_query"});
    require(slots, "a vendor without DL_CAP_SYNCHRONOUS needs");
  } else if (const std::string text = list_missing(table, events);
             !text.empty() && (table.event_create != nullptr || table.event_destroy != nullptr ||
                               table.event_record != nullptr || table.event_query != nullptr)) {
    flaws.push_back("it has no " + text + ": a vendor must have all six event slots or none");
  }
  if (table.host_allocate != nullptr) require({"host_free"}, "host_allocate needs");
  if (table.stream_create != nullptr) require({"stream_destroy"}, "stream_create needs");
}

inline void find_empty_extensions(const checked::Extensions& extensions, Flaws& flaws) {
  checked::each_extension(extensions, [&](const auto& extension) {
    using Extension = std::decay_t<decltype(extension)>;
    if (extension.type == 0) return;
    for (size_t i = 0; i < checked::SlotNames<Extension>::kCount; ++i)
      if (has_slot(extension, i)) return;
    flaws.push_back(std::string("its ") + checked::ExtensionType<Extension>::kName +
                    " extension has no slots, so it cannot be used");
  });
}

// Finds operators that are listed more than once; hosts use the first entry.
inline void find_repeated_operators(const dl_operator_t* list, uint64_t count, Flaws& flaws) {
  std::set<std::string> seen, reported;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = foreign::read_text(list[i].name);
    if (!seen.insert(name).second && reported.insert(name).second)
      flaws.push_back("it lists " + name + " more than once; only the first entry is called");
  }
}

}  // namespace dl::trial

#endif  // DL_TRIAL_FLAWS_H_
