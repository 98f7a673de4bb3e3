// The implementation of dl/checked.h: a vendor table around that of a foreign library.
#ifndef DL_CHECKED_HPP_
#define DL_CHECKED_HPP_

#include <cinttypes>
#include <exception>
#include <memory>
#include <new>

#include "dl/checked.h"
#include "dl/foreign.hpp"

namespace dl::checked {

#pragma GCC visibility push(hidden)

inline constexpr int32_t kMostDevices = 4096;
inline constexpr uint64_t kMostOperators = 1 << 16;
inline constexpr uint64_t kLongestStruct = 1 << 16;
inline constexpr int kLongestChain = 64;
inline constexpr uintptr_t kAlignment = 64;

// Whether a foreign struct, which is readable as far as it says, reaches `field`.
#define DL_CHECKED_REACHES(size, type, field) \
  ((size) >= offsetof(type, field) + sizeof(static_cast<type*>(nullptr)->field))

// A status of our own; its texts are whole.
struct Status : dl_status_t {
  std::string message_text;
  std::string operation_text;
};

inline dl_status_t* make_status(int32_t code, std::string message, std::string operation = {}) {
  static dl_status_t no_memory = {sizeof(dl_status_t),      DL_OUT_OF_MEMORY, 0,
                                  "no memory for an error", nullptr,          [](dl_status_t*) {}};
  auto* status = new (std::nothrow) Status;
  if (status == nullptr) return &no_memory;
  status->message_text = std::move(message);
  status->operation_text = std::move(operation);
  status->struct_size = sizeof(dl_status_t);
  status->code = code;
  status->reserved = 0;
  status->message = status->message_text.c_str();
  status->operation = status->operation_text.empty() ? nullptr : status->operation_text.c_str();
  status->release = [](dl_status_t* self) { delete static_cast<Status*>(self); };
  return status;
}

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

// Whose fault it is, so that nobody looks for it elsewhere.
inline dl_status_t* defect(std::string what) {
  return make_status(DL_ERROR, std::move(what) + "; that is a defect of the vendor");
}

// Turns a foreign status into one of our own and releases it.
inline dl_status_t* take(dl_status_t* foreign) {
  if (foreign == nullptr) return nullptr;
  const void* address = foreign;
  if (!foreign::readable(foreign, sizeof(foreign->struct_size)))
    return defect(format("it failed with a status at %p, which is no memory", address));
  const uint64_t size = foreign->struct_size;
  if (!DL_CHECKED_REACHES(size, dl_status_t, code) || size > kLongestStruct ||
      !foreign::readable(foreign, size))
    return defect(format("it failed with a status of %" PRIu64 " bytes", size));
  std::string message, operation;
  if (DL_CHECKED_REACHES(size, dl_status_t, message))
    message = foreign::read_text(foreign->message);
  if (DL_CHECKED_REACHES(size, dl_status_t, operation))
    operation = foreign::read_text(foreign->operation);
  // A code that says success is none where there is a status.
  const int32_t code = foreign->code == DL_OK ? int32_t{DL_ERROR} : foreign->code;
  if (message.empty()) message = format("it failed with code %d and gave no reason", code);
  dl_status_t* own = make_status(code, std::move(message), std::move(operation));
  if (DL_CHECKED_REACHES(size, dl_status_t, release) &&
      foreign::readable(reinterpret_cast<const void*>(foreign->release), 1))
    foreign->release(foreign);
  return own;
}

// Runs a call into the library; what it throws becomes a status, for nothing may cross its border.
template <typename Call>
dl_status_t* guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    return defect("it threw an exception: " + foreign::read_text(error.what()));
  } catch (...) {
    return defect("it threw an exception that is not a std::exception");
  }
}

class Vendor : public dl_vendor {
 public:
  // `inner` was checked by why_broken.
  explicit Vendor(dl_vendor_t* inner) : inner_(inner) {
    // Whole fields: all of them have this size.
    const size_t reached = std::min<size_t>(inner->table->struct_size, sizeof theirs_);
    std::memcpy(&theirs_, inner->table, reached / sizeof(void*) * sizeof(void*));
    name_ = foreign::read_text(theirs_.name, 128);
    version_ = foreign::read_text(theirs_.version, 128);
    fill();
    table = &ours_;
  }

  static Vendor& of(dl_vendor_t* vendor) { return *static_cast<Vendor*>(vendor); }

  const dl_vendor_table_t& theirs() const { return theirs_; }
  dl_vendor_t* inner() const { return inner_; }

 private:
  void fill();

  dl_vendor_t* inner_;
  dl_vendor_table_t theirs_{};
  dl_vendor_table_t ours_{};
  std::string name_;
  std::string version_;
};

// Before the arguments of a slot: a device that they name becomes the thread's current one.
template <typename... Args>
dl_status_t* make_current(const Vendor&, Args...) {
  return nullptr;
}
template <typename... Args>
dl_status_t* make_current(const Vendor& vendor, int32_t device, Args...) {
  const auto set = vendor.theirs().device_set;
  return set == nullptr ? nullptr : take(set(vendor.inner(), device));
}

// A slot that is called as it is.
template <auto kSlot>
struct Slot;

template <typename... Args, dl_status_t* (*dl_vendor_table_t::*kSlot)(dl_vendor_t*, Args...)>
struct Slot<kSlot> {
  static dl_status_t* call(dl_vendor_t* self, Args... args) noexcept {
    const Vendor& vendor = Vendor::of(self);
    return guarded([&]() -> dl_status_t* {
      if (dl_status_t* status = make_current(vendor, args...)) return status;
      return take((vendor.theirs().*kSlot)(vendor.inner(), args...));
    });
  }
};

// For operators, which no checked call stands around.
inline dl_status_t* device_set(dl_vendor_t* self, int32_t device) noexcept {
  return guarded([&] { return make_current(Vendor::of(self), device); });
}

inline void destroy(dl_vendor_t* self) noexcept {
  Vendor* vendor = &Vendor::of(self);
  // There is nobody left to tell.
  dl_status_t* status = guarded([&]() -> dl_status_t* {
    vendor->theirs().destroy(vendor->inner());
    return nullptr;
  });
  if (status != nullptr) status->release(status);
  delete vendor;
}

inline dl_status_t* device_count(dl_vendor_t* self, int32_t* count) noexcept {
  *count = 0;
  int32_t found = 0;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::device_count>::call(self, &found))
    return status;
  if (found < 0 || found > kMostDevices)
    return defect(format("it says that it has %d devices", found));
  *count = found;
  return nullptr;
}

// The foreign text of a fixed array, made printable in place.
template <size_t kSize>
void tidy(char (&text)[kSize]) {
  const std::string shown = foreign::printable({text, strnlen(text, kSize)}, kSize - 1);
  std::memset(text, 0, kSize);
  std::memcpy(text, shown.data(), shown.size());
}

inline dl_status_t* device_properties(dl_vendor_t* self, int32_t device,
                                      dl_device_properties_t* properties) noexcept {
  struct {
    dl_device_properties_t given;
    unsigned char beyond[512];
  } room{};
  const uint64_t size = std::min<uint64_t>(properties->struct_size, sizeof room.given);
  room.given.struct_size = size;
  if (dl_status_t* status =
          Slot<&dl_vendor_table_t::device_properties>::call(self, device, &room.given))
    return status;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&room);
  if (std::any_of(bytes + size, bytes + sizeof room, [](unsigned char x) { return x != 0; }))
    return defect(format("it writes beyond the %" PRIu64 " bytes of a device's properties", size));
  return guarded([&]() -> dl_status_t* {
    tidy(room.given.name);
    tidy(room.given.architecture);
    room.given.struct_size = properties->struct_size;
    std::memcpy(properties, &room.given, size);
    return nullptr;
  });
}

inline dl_status_t* memory_allocate(dl_vendor_t* self, int32_t device, uint64_t bytes,
                                    void** memory) noexcept {
  *memory = nullptr;
  void* found = nullptr;
  if (dl_status_t* status =
          Slot<&dl_vendor_table_t::memory_allocate>::call(self, device, bytes, &found))
    return status;
  if (found == nullptr)
    return defect(format("it reports success without memory (%" PRIu64 " bytes)", bytes));
  // Not freed: an address that is wrong may not be one that can be.
  if (reinterpret_cast<uintptr_t>(found) % kAlignment != 0) {
    return defect(format("its memory at %p is not aligned to 64 bytes", found));
  }
  *memory = found;
  return nullptr;
}

inline dl_status_t* host_allocate(dl_vendor_t* self, uint64_t bytes, void** memory) noexcept {
  *memory = nullptr;
  void* found = nullptr;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::host_allocate>::call(self, bytes, &found))
    return status;
  if (found == nullptr)
    return defect(format("it reports success without memory (%" PRIu64 " bytes)", bytes));
  const char* last = static_cast<const char*>(found) + (bytes == 0 ? 0 : bytes - 1);
  if (!foreign::readable(found, 1) || !foreign::readable(last, 1))
    return defect(format("its host memory at %p is no memory of the host", found));
  *memory = found;
  return nullptr;
}

inline dl_status_t* memory_info(dl_vendor_t* self, int32_t device, uint64_t* free_bytes,
                                uint64_t* total_bytes) noexcept {
  *free_bytes = *total_bytes = 0;
  uint64_t left = 0, total = 0;
  if (dl_status_t* status =
          Slot<&dl_vendor_table_t::memory_info>::call(self, device, &left, &total))
    return status;
  if (left > total || total > uint64_t{INT64_MAX})
    return defect(format("it says that %" PRIu64 " of %" PRIu64 " bytes are free", left, total));
  *free_bytes = left;
  *total_bytes = total;
  return nullptr;
}

inline dl_status_t* operators(dl_vendor_t* self, const dl_operator_t** list,
                              uint64_t* count) noexcept {
  *list = nullptr;
  *count = 0;
  const dl_operator_t* found = nullptr;
  uint64_t length = 0;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::operators>::call(self, &found, &length))
    return status;
  if (length == 0) return nullptr;
  if (length > kMostOperators)
    return defect(format("it says that it has %" PRIu64 " operators", length));
  foreign::Pages pages;
  if (!foreign::readable(found, length * sizeof(dl_operator_t), pages))
    return defect(format("its list of %" PRIu64 " operators at %p is no memory", length,
                         static_cast<const void*>(found)));
  for (uint64_t i = 0; i < length; ++i) {
    if (found[i].name == nullptr || foreign::text_length(found[i].name, 256, pages) < 0)
      return defect(format("operator %" PRIu64 " of %" PRIu64 " has no name", i, length));
    const auto* function = reinterpret_cast<const void*>(found[i].function);
    if (function != nullptr && !foreign::readable(function, 1, pages))
      return defect(format("operator %" PRIu64 " of %" PRIu64 " is at %p, which is no memory", i,
                           length, function));
  }
  *list = found;
  *count = length;
  return nullptr;
}

inline const char* last_error(dl_vendor_t* self) noexcept {
  thread_local char text[1024];
  const char* said = nullptr;
  dl_status_t* thrown = guarded([&]() -> dl_status_t* {
    said = Vendor::of(self).theirs().last_error(Vendor::of(self).inner());
    return nullptr;
  });
  if (thrown != nullptr) thrown->release(thrown);
  if (said == nullptr) return nullptr;
  dl_status_t* failed = guarded([&]() -> dl_status_t* {
    const std::string shown = foreign::read_text(said, sizeof text - 1);
    std::memcpy(text, shown.c_str(), shown.size() + 1);
    return nullptr;
  });
  if (failed == nullptr) return text;
  failed->release(failed);
  return nullptr;
}

inline void Vendor::fill() {
  ours_.struct_size = sizeof ours_;
  ours_.extensions = theirs_.extensions;
  ours_.name = name_.c_str();
  ours_.version = version_.c_str();
  ours_.capabilities = theirs_.capabilities;
  ours_.destroy = checked::destroy;
#define DL_CHECKED_AS_IT_IS(slot) \
  if (theirs_.slot != nullptr) ours_.slot = Slot<&dl_vendor_table_t::slot>::call;
#define DL_CHECKED_OURS(slot) \
  if (theirs_.slot != nullptr) ours_.slot = checked::slot;
  DL_CHECKED_AS_IT_IS(present)
  DL_CHECKED_OURS(device_count)
  DL_CHECKED_OURS(device_properties)
  DL_CHECKED_AS_IT_IS(device_synchronize)
  DL_CHECKED_OURS(memory_allocate)
  DL_CHECKED_AS_IT_IS(memory_free)
  DL_CHECKED_OURS(memory_info)
  DL_CHECKED_OURS(host_allocate)
  DL_CHECKED_AS_IT_IS(host_free)
  DL_CHECKED_AS_IT_IS(memory_copy)
  DL_CHECKED_AS_IT_IS(memory_set)
  DL_CHECKED_AS_IT_IS(stream_create)
  DL_CHECKED_AS_IT_IS(stream_destroy)
  DL_CHECKED_AS_IT_IS(stream_synchronize)
  DL_CHECKED_AS_IT_IS(stream_query)
  DL_CHECKED_AS_IT_IS(stream_wait_event)
  DL_CHECKED_AS_IT_IS(event_create)
  DL_CHECKED_AS_IT_IS(event_destroy)
  DL_CHECKED_AS_IT_IS(event_record)
  DL_CHECKED_AS_IT_IS(event_synchronize)
  DL_CHECKED_AS_IT_IS(event_query)
  DL_CHECKED_AS_IT_IS(event_elapsed)
  DL_CHECKED_OURS(operators)
  DL_CHECKED_OURS(last_error)
  DL_CHECKED_OURS(device_set)
#undef DL_CHECKED_AS_IT_IS
#undef DL_CHECKED_OURS
  static_assert(
      sizeof(dl_vendor_table_t) == offsetof(dl_vendor_table_t, device_set) + sizeof(void*),
      "a slot was appended: it needs its line above");
}

// How an instance breaks the interface, as the end of a sentence; empty if it does not.
inline std::string why_broken(const dl_vendor_t* instance) {
  const auto at = [](const void* pointer) { return format(" at %p, which is no memory", pointer); };
  if (instance == nullptr) return "reports success but returns no instance";
  if (!foreign::readable(instance, sizeof *instance)) return "returns an instance" + at(instance);
  const dl_vendor_table_t* table = instance->table;
  if (table == nullptr) return "returns an instance without a table";
  if (!foreign::readable(table, sizeof table->struct_size)) return "returns a table" + at(table);
  const uint64_t size = table->struct_size;
  if (!DL_CHECKED_REACHES(size, dl_vendor_table_t, destroy))
    return format("returns a table of %" PRIu64 " bytes, too short for its first fields", size);
  if (size > kLongestStruct || !foreign::readable(table, size))
    return format("returns a table of %" PRIu64 " bytes, which is more than is there", size);
  if (table->name == nullptr || table->destroy == nullptr)
    return "returns a table without name or destroy";
  if (foreign::text_length(table->name) < 0) return "returns a table whose name is no text";
  if (table->version != nullptr && foreign::text_length(table->version) < 0)
    return "returns a table whose version is no text";
  int links = 0;
  for (const dl_extension_t* link = table->extensions; link != nullptr; link = link->next) {
    if (!foreign::readable(link, sizeof *link)) return "returns an extension" + at(link);
    if (link->struct_size < sizeof *link || link->struct_size > kLongestStruct)
      return format("returns an extension of %" PRIu64 " bytes", link->struct_size);
    if (++links > kLongestChain) return "returns extensions without an end";
  }
  // What is called must at least be there.
  const auto* first = reinterpret_cast<const void* const*>(&table->destroy);
  const size_t reached =
      std::min<size_t>(size, sizeof *table) - offsetof(dl_vendor_table_t, destroy);
  for (size_t i = 0; i < reached / sizeof(void*); ++i) {
    if (first[i] != nullptr && !foreign::readable(first[i], 1))
      return format("returns a table whose slot %zu", i) + " is" + at(first[i]);
  }
  return {};
}

inline dl_status_t* open(dl_vendor_entry_v1_t entry, const dl_host_t* host, dl_opened_t* opened) {
  *opened = {};
  return guarded([&]() -> dl_status_t* {
    dl_vendor_t* made = nullptr;
    if (dl_status_t* status = take(entry(host, &made))) return status;
    const std::string broken = why_broken(made);
    if (!broken.empty()) {
      std::snprintf(opened->defect, sizeof opened->defect, "%s", broken.c_str());
      return nullptr;
    }
    opened->vendor = made;
    opened->checked = new Vendor(made);
    return nullptr;
  });
}

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_HPP_
