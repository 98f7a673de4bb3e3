// Conversion of a class to a vendor: its methods fill the slots of the same name in the table.
//
//   struct Vendor : dl::kit::Instance {
//     static constexpr const char* kName = "toy";
//     static constexpr const char* kVersion = "0.1.0";
//     static constexpr uint64_t kCapabilities = DL_CAP_SYNCHRONOUS;
//     int32_t device_count() { return 1; }
//     void* memory_allocate(int32_t device, uint64_t bytes);
//     void memory_free(int32_t device, void* memory);
//     void memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
//                      void* stream);
//   };
//   DL_KIT_VENDOR(Vendor)
//
// A method takes the arguments of its slot, without the instance, and returns the value that the
// slot writes: one value, MemoryInfo, Operators, or dl_device_properties_t with the known fields
// set. It throws on failure. Slots without a method stay NULL: not supported. Before a method of a
// slot with a device argument runs, that device has been checked and made current on the thread.
// Optional members:
//
//   uint64_t kCapabilities               DL_CAP_… bits; none by default, in which case the vendor
//                                        needs device_synchronize, stream_query and events
//   const char* kDevicesFrom             source of the device count, for messages
//   static dl_extension_t* extensions()  the chain of extensions
//   void enter()                         before every slot but present and operators; see fork.h
//   void make_current(int32_t)           makes a device current: before its slots and operators
//   void device_set(int32_t)             the slot, for vendors that leave this to the host
//   bool inherited_by_fork() const       true: destroying the instance frees nothing
#ifndef DL_KIT_TABLE_H_
#define DL_KIT_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/status.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"

DL_KIT_BEGIN

// Base of a vendor's class. The host sets its table.
struct Instance : dl_vendor {
  Instance() : dl_vendor{nullptr} {}
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const dl_host_t* host = nullptr;
};

// Result of memory_info, in bytes.
struct MemoryInfo {
  uint64_t free;
  uint64_t total;
};

// Result of operators: an array that lives as long as the instance.
struct Operators {
  template <size_t kCount>
  Operators(const dl_operator_t (&list)[kCount]) : first(list), count(kCount) {}
  Operators(const std::vector<dl_operator_t>& list) : first(list.data()), count(list.size()) {}
  Operators(const dl_operator_t* list, uint64_t length) : first(list), count(length) {}

  const dl_operator_t* first;
  uint64_t count;
};

template <class V>
V& self(dl_vendor_t* vendor) {
  return *static_cast<V*>(vendor);
}

namespace detail {

// Has_x<V>: true if V, or a base of it, has a member x.
#define DL_KIT_MEMBER(member)               \
  template <class V, class = void>          \
  struct Has_##member : std::false_type {}; \
  template <class V>                        \
  struct Has_##member<V, std::void_t<decltype(&V::member)>> : std::true_type {};
DL_KIT_MEMBER(kCapabilities)
DL_KIT_MEMBER(kDevicesFrom)
DL_KIT_MEMBER(extensions)
DL_KIT_MEMBER(enter)
DL_KIT_MEMBER(make_current)
DL_KIT_MEMBER(inherited_by_fork)

// Throws unless the device exists.
template <class V>
void check_device(V& vendor, int32_t device) {
  const int32_t count = vendor.device_count();
  if (device < 0 || device >= count) {
    std::string hint;
    if constexpr (Has_kDevicesFrom<V>::value) hint = std::string(" (") + V::kDevicesFrom + ")";
    throw Error(DL_INVALID_ARGUMENT,
                "device " + std::to_string(device) +
                    " does not exist; number of devices: " + std::to_string(count) + hint);
  }
}

// Throws unless the device exists, and makes it current.
template <class V>
void enter_device(V& vendor, int32_t device) {
  check_device(vendor, device);
  if constexpr (Has_make_current<V>::value) vendor.make_current(device);
}

// Checks the first argument of a slot, which is the device if the slot has one.
template <class V, class... Args>
void enter_slot(V&, Args...) {}
template <class V, class... Args>
void enter_slot(V& vendor, int32_t device, Args...) {
  enter_device(vendor, device);
}

template <class T, class Result>
void write(T* out, const Result& result) {
  *out = result;
}
// A caller compiled against a shorter struct gets the fields that it knows.
inline void write(dl_device_properties_t* out, dl_device_properties_t all) {
  all.struct_size = out->struct_size;
  std::memcpy(out, &all, std::min<uint64_t>(all.struct_size, sizeof all));
}
inline void write(uint64_t* free_bytes, uint64_t* total_bytes, const MemoryInfo& info) {
  *free_bytes = info.free;
  *total_bytes = info.total;
}
inline void write(const dl_operator_t** first, uint64_t* count, const Operators& list) {
  *first = list.first;
  *count = list.count;
}

template <class Result>
inline constexpr size_t kOutputs =
    std::is_same_v<Result, MemoryInfo> || std::is_same_v<Result, Operators> ? 2 : 1;
template <>
inline constexpr size_t kOutputs<void> = 0;

// Calls a method with the inputs of a slot and writes its result through the slot's last arguments.
template <class V, auto kMethod, class... Args, size_t... kIn, size_t... kOut>
void invoke(V& vendor, const std::tuple<Args...>& args, std::index_sequence<kIn...>,
            std::index_sequence<kOut...>) {
  constexpr size_t kInputs = sizeof...(kIn);
  if constexpr (sizeof...(kOut) == 0) {
    (vendor.*kMethod)(std::get<kIn>(args)...);
  } else {
    write(std::get<kInputs + kOut>(args)..., (vendor.*kMethod)(std::get<kIn>(args)...));
  }
}

template <class Method>
struct ResultOf;
template <class Result, class C, class... Args>
struct ResultOf<Result (C::*)(Args...)> {
  using Type = Result;
  using Parameters = std::tuple<Args...>;
};
template <class Result, class C, class... Args>
struct ResultOf<Result (C::*)(Args...) const> : ResultOf<Result (C::*)(Args...)> {};
template <class Result, class C, class... Args>
struct ResultOf<Result (C::*)(Args...) noexcept> : ResultOf<Result (C::*)(Args...)> {};

// True unless a method takes an integer of a slot as a narrower one, which would cut sizes off.
template <class Argument, class Parameter>
inline constexpr bool kKeeps =
    !std::is_integral_v<Argument> || (std::is_integral_v<std::decay_t<Parameter>> &&
                                      sizeof(std::decay_t<Parameter>) >= sizeof(Argument));
template <class Arguments, class Parameters, size_t... kAt>
constexpr bool keeps_integers(std::index_sequence<kAt...>) {
  return (kKeeps<std::tuple_element_t<kAt, Arguments>, std::tuple_element_t<kAt, Parameters>> &&
          ...);
}

// The function behind a slot. `kQuiet`: it must not touch the driver.
template <class V, auto kSlot, auto kMethod, bool kQuiet>
struct Slot;
template <class V, class... Args, dl_status_t* (*dl_vendor_table_t::*kSlot)(dl_vendor_t*, Args...),
          auto kMethod, bool kQuiet>
struct Slot<V, kSlot, kMethod, kQuiet> {
  using Parameters = typename ResultOf<decltype(kMethod)>::Parameters;
  static_assert(keeps_integers<std::tuple<Args...>, Parameters>(
                    std::make_index_sequence<std::tuple_size_v<Parameters>>()),
                "a method of the vendor takes an integer of its slot as a narrower type");

  static dl_status_t* call(dl_vendor_t* vendor, Args... args) noexcept {
    return guarded([&] {
      V& instance = self<V>(vendor);
      if constexpr (!kQuiet) {
        if constexpr (Has_enter<V>::value) instance.enter();
        enter_slot(instance, args...);
      }
      constexpr size_t kOut = kOutputs<typename ResultOf<decltype(kMethod)>::Type>;
      invoke<V, kMethod>(instance, std::tuple<Args...>(args...),
                         std::make_index_sequence<sizeof...(Args) - kOut>(),
                         std::make_index_sequence<kOut>());
    });
  }
};

template <class V>
void destroy(dl_vendor_t* vendor) noexcept {
  V* instance = &self<V>(vendor);
  if constexpr (Has_inherited_by_fork<V>::value) {
    // Its threads exist only in the parent, and a mutex may have been locked at the fork.
    if (instance->inherited_by_fork()) return;
  }
  delete instance;
}

inline const char* last_error(dl_vendor_t*) noexcept {
  const char* message = dl::last_error();
  return *message == '\0' ? nullptr : message;
}

// The slots that a method can fill; `quiet` ones must not touch the driver.
// clang-format off
#define DL_KIT_SLOTS(X)                                                                        \
  X(present, true) X(operators, true)                                                          \
  X(device_count, false) X(device_properties, false) X(device_synchronize, false)              \
  X(device_set, false)                                                                         \
  X(memory_allocate, false) X(memory_free, false) X(memory_info, false)                        \
  X(host_allocate, false) X(host_free, false) X(memory_copy, false) X(memory_set, false)       \
  X(stream_create, false) X(stream_destroy, false) X(stream_synchronize, false)                \
  X(stream_query, false) X(stream_wait_event, false)                                           \
  X(event_create, false) X(event_destroy, false) X(event_record, false)                        \
  X(event_synchronize, false) X(event_query, false) X(event_elapsed, false)
// clang-format on
#define DL_KIT_SLOT_MEMBER(slot, quiet) DL_KIT_MEMBER(slot)
DL_KIT_SLOTS(DL_KIT_SLOT_MEMBER)
#undef DL_KIT_SLOT_MEMBER
#undef DL_KIT_MEMBER

template <class V>
constexpr bool is_synchronous() {
  if constexpr (Has_kCapabilities<V>::value) return (V::kCapabilities & DL_CAP_SYNCHRONOUS) != 0;
  return false;
}

// Members that a vendor with asynchronous calls needs.
template <class V>
inline constexpr bool kCanBeWaitedFor =
    Has_device_synchronize<V>::value && Has_stream_query<V>::value && Has_event_create<V>::value &&
    Has_event_destroy<V>::value && Has_event_record<V>::value && Has_event_synchronize<V>::value &&
    Has_event_query<V>::value && Has_event_elapsed<V>::value;

template <class V>
dl_vendor_table_t make_table() {
  static_assert(std::is_base_of_v<Instance, V>, "a vendor derives from dl::kit::Instance");
  static_assert(Has_device_count<V>::value && Has_memory_allocate<V>::value &&
                    Has_memory_free<V>::value && Has_memory_copy<V>::value,
                "a vendor has device_count, memory_allocate, memory_free and memory_copy");
  static_assert(is_synchronous<V>() || kCanBeWaitedFor<V>,
                "a vendor has device_synchronize, stream_query and all six methods of events, or "
                "says that work is finished when a call returns: kCapabilities = "
                "DL_CAP_SYNCHRONOUS");
  static_assert(Has_stream_create<V>::value == Has_stream_destroy<V>::value &&
                    Has_host_allocate<V>::value == Has_host_free<V>::value,
                "stream_create comes with stream_destroy, and host_allocate with host_free");
  static_assert(!(Has_make_current<V>::value && Has_device_set<V>::value),
                "a device is made current by the kit (make_current) or the host (device_set)");
  dl_vendor_table_t table{};
  table.struct_size = sizeof table;
  table.name = V::kName;
  table.version = V::kVersion;
  if constexpr (Has_kCapabilities<V>::value) table.capabilities = V::kCapabilities;
  if constexpr (Has_extensions<V>::value) table.extensions = V::extensions();
  table.destroy = destroy<V>;
  table.last_error = last_error;
#define DL_KIT_FILL(slot, quiet)      \
  if constexpr (Has_##slot<V>::value) \
    table.slot = Slot<V, &dl_vendor_table_t::slot, &V::slot, quiet>::call;
  DL_KIT_SLOTS(DL_KIT_FILL)
  // Without operators of its own, a vendor is the runtime of a library in DIOPI's style, which
  // relies on the host for the current device.
  if constexpr (Has_make_current<V>::value && !Has_operators<V>::value)
    table.device_set = Slot<V, &dl_vendor_table_t::device_set, &V::make_current, false>::call;
#undef DL_KIT_FILL
#undef DL_KIT_SLOTS
  return table;
}

}  // namespace detail

// For slots of extensions and other functions that a host calls directly: runs `body(instance)`
// like the method of a slot.
template <class V, class Body>
dl_status_t* slot(dl_vendor_t* vendor, const Body& body) noexcept {
  return guarded([&] {
    V& instance = self<V>(vendor);
    if constexpr (detail::Has_enter<V>::value) instance.enter();
    body(instance);
  });
}
// Like slot, for a slot with a device argument.
template <class V, class Body>
dl_status_t* device_slot(dl_vendor_t* vendor, int32_t device, const Body& body) noexcept {
  return slot<V>(vendor, [&](V& instance) {
    detail::enter_device(instance, device);
    body(instance);
  });
}

// Returns the table of a vendor's class, which all of its instances share.
template <class V>
const dl_vendor_table_t* table_of() {
  static const dl_vendor_table_t table = detail::make_table<V>();
  return &table;
}

// Creates an instance for a host; V's constructor takes the host's table or nothing.
template <class V>
dl_status_t* open(const dl_host_t* host, dl_vendor_t** out) noexcept {
  return guarded([&] {
    std::unique_ptr<V> made;
    if constexpr (std::is_constructible_v<V, const dl_host_t*>) {
      made = std::make_unique<V>(host);
    } else {
      made = std::make_unique<V>();
    }
    made->host = host;
    made->table = table_of<V>();
    *out = made.release();
  });
}

DL_KIT_END

// The library's only exported symbol.
#define DL_KIT_VENDOR(V)                                                                     \
  extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) { \
    return ::dl::kit::open<V>(host, out);                                                    \
  }

#endif  // DL_KIT_TABLE_H_
