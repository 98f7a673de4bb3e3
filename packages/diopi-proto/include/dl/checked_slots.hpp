// Calls of slots and validation of their results; part of dl/checked.hpp.
#ifndef DL_CHECKED_SLOTS_HPP_
#define DL_CHECKED_SLOTS_HPP_

#include "dl/checked_vendor.hpp"

// If the library's table (`theirs`) has a slot, `ours` gets a forwarding slot (AS_IT_IS), or the
// function of that name with additional checks (OURS). `Table` is the type of both tables.
#define DL_CHECKED_AS_IT_IS(slot) \
  if (theirs.slot != nullptr) ours.slot = Slot<&Table::slot>::call;
#define DL_CHECKED_OURS(slot_of_ours) \
  if (theirs.slot_of_ours != nullptr) ours.slot_of_ours = slot_of_ours;
// Asserts that `slot` is the last one, so that an appended slot is not forgotten.
#define DL_CHECKED_LAST(slot)                                           \
  static_assert(sizeof(Table) == offsetof(Table, slot) + sizeof(void*), \
                "a slot was appended: it needs its line above")

namespace dl::checked {

#pragma GCC visibility push(hidden)

// Makes the library's text in a fixed array printable, in place.
template <size_t kSize>
void tidy(char (&text)[kSize]) {
  const std::string shown = foreign::printable({text, strnlen(text, kSize)}, kSize - 1);
  std::memset(text, 0, kSize);
  std::memcpy(text, shown.data(), shown.size());
}

// Makes the device current if it is the first argument of a slot.
template <typename... Args>
dl_status_t* make_current(const Vendor&, Args...) {
  return nullptr;
}
template <typename... Args>
dl_status_t* make_current(const Vendor& vendor, int32_t device, Args...) {
  const auto set = vendor.theirs().device_set;
  return set == nullptr ? nullptr : take(set(vendor.inner(), device));
}

// Forwarding call of a slot of the table or of an extension.
template <auto kSlot>
struct Slot;

template <class T, typename... Args, dl_status_t* (*T::*kSlot)(dl_vendor_t*, Args...)>
struct Slot<kSlot> {
  static dl_status_t* call(dl_vendor_t* self, Args... args) noexcept {
    const Vendor& vendor = Vendor::of(self);
    return guarded([&]() -> dl_status_t* {
      if (dl_status_t* status = make_current(vendor, args...)) return status;
      return take((vendor.theirs<T>().*kSlot)(vendor.inner(), args...));
    });
  }
};

// Lets `call` fill a struct of the host and detects writes beyond the struct's size; then `tidy`
// makes its strings printable. `what` names the struct in a message.
template <class T, typename Call, typename Tidy>
dl_status_t* filled(T* struct_of_host, const char* what, Call&& call, Tidy&& tidy) noexcept {
  struct {
    T given;
    unsigned char beyond[512];
  } room{};
  const uint64_t size = std::min<uint64_t>(struct_of_host->struct_size, sizeof room.given);
  room.given.struct_size = size;
  if (dl_status_t* status = call(&room.given)) return status;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&room);
  if (std::any_of(bytes + size, bytes + sizeof room, [](unsigned char x) { return x != 0; }))
    return defect(format("it writes beyond the %" PRIu64 " bytes of %s", size, what));
  return guarded([&]() -> dl_status_t* {
    tidy(room.given);
    room.given.struct_size = struct_of_host->struct_size;
    std::memcpy(static_cast<void*>(struct_of_host), &room.given, size);
    return nullptr;
  });
}

// Calls a slot whose last argument receives a handle, which must not be NULL. `what` names the
// handle in a message.
template <auto kSlot, typename... Args>
dl_status_t* handle_of(const char* what, dl_vendor_t* self, void** handle, Args... args) noexcept {
  *handle = nullptr;
  void* found = nullptr;
  if (dl_status_t* status = Slot<kSlot>::call(self, args..., &found)) return status;
  if (found == nullptr) return defect(format("it reports success but returns no %s", what));
  *handle = found;
  return nullptr;
}

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_SLOTS_HPP_
