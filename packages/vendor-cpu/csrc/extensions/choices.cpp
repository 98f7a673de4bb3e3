// The choices extension (dl/choices.h) over the choice points of library/.
#include "dl/choices.h"

#include <cstring>
#include <string>
#include <vector>

#include "dl/kit/extension.h"
#include "extensions/extensions.h"
#include "library/choices.h"
#include "library/libraries.h"
#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

template <size_t kSize>
std::string text_of(const char (&field)[kSize]) {
  return {field, strnlen(field, kSize)};
}

[[noreturn]] void refuse(uint64_t number, const std::string& why) {
  throw kit::Error(DL_INVALID_ARGUMENT, "entry " + std::to_string(number) + " " + why +
                                            "; tune again with this release of the vendor");
}

choices::Entry entry_of(const dl_choice_entry_t& given, uint64_t number) {
  choices::Point point;
  if (!choices::parse_point(text_of(given.key.point), &point))
    refuse(number, "has the choice point '" + text_of(given.key.point) + "', which is unknown");
  choices::Entry entry{choices::Key(point), {}};
  if (given.key.count > DL_CHOICE_MOST_VALUES)
    refuse(number, "has " + std::to_string(given.key.count) + " values, more than a key can hold");
  for (uint64_t i = 0; i < given.key.count; ++i) entry.key.add(given.key.values[i]);
  if (!choices::parse(point, text_of(given.choice), &entry.choice))
    refuse(number, "chooses '" + text_of(given.choice) + "' at '" + text_of(given.key.point) +
                       "', which has no such implementation");
  return entry;
}

dl_status_t* properties(dl_vendor_t* vendor, int32_t device,
                        dl_choice_properties_t* properties) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor& own) {
    const dl_device_properties_t card = own.device_properties(device);
    dl_choice_properties_t all{};
    kit::put(all.identity, std::string("cpu ") + Vendor::kVersion + ", " + card.architecture +
                               ", " + card.name + ", " + std::to_string(card.multiprocessor_count) +
                               " processors, " + onednn::version() + ", " + openblas::version());
    kit::fill(properties, all);
  });
}

dl_status_t* install(dl_vendor_t* vendor, int32_t device, const dl_choice_entry_t* entries,
                     uint64_t count) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    if (count != 0 && entries == nullptr)
      throw kit::Error(DL_INVALID_ARGUMENT, "the entries are NULL, but their count is not 0");
    std::vector<choices::Entry> table;
    table.reserve(count);
    for (uint64_t i = 0; i < count; ++i) table.push_back(entry_of(entries[i], i));
    choices::install(table);
  });
}

dl_status_t* request(dl_vendor_t* vendor, int32_t device, void (*wanted)(void* self),
                     void* self) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) { choices::request(wanted, self); });
}

dl_status_t* record(dl_vendor_t* vendor, int32_t device, uint64_t capacity) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) { choices::record(capacity); });
}

dl_status_t* recorded(dl_vendor_t* vendor, int32_t device, uint64_t number,
                      dl_choice_record_t* record) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    dl_choice_record_t all{};
    choices::Record found{choices::Key(choices::Point::kGemm), 0, {}};
    if (choices::recorded(number, &found)) {
      kit::put(all.key.point, choices::kPointNames[static_cast<int>(found.key.point())]);
      all.key.count = static_cast<uint64_t>(found.key.count());
      std::copy_n(found.key.values(), found.key.count(), all.key.values);
      all.calls = found.calls;
      kit::put(all.choices, found.choices);
    }
    kit::fill(record, all);
  });
}

dl_status_t* statistics(dl_vendor_t* vendor, int32_t device,
                        dl_choice_statistics_t* statistics) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    const choices::Statistics found = choices::statistics();
    dl_choice_statistics_t all{};
    all.entries = found.entries;
    all.hits = found.hits;
    all.misses = found.misses;
    kit::fill(statistics, all);
  });
}

}  // namespace

dl_choices_extension_t choices_extension = {
    sizeof(dl_choices_extension_t),
    DL_EXT_CHOICES,
    reinterpret_cast<dl_extension_t*>(&constants_extension),
    properties,
    install,
    request,
    record,
    recorded,
    statistics,
};

}  // namespace dl::cpu
