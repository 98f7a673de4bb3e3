// Names of the slots, for messages; part of dl/checked.hpp.
#ifndef DL_CHECKED_NAMES_HPP_
#define DL_CHECKED_NAMES_HPP_

#include <cstddef>

#include "dl/choices.h"
#include "dl/communicator.h"
#include "dl/constants.h"
#include "dl/graph.h"
#include "dl/kernel.h"
#include "dl/peer.h"
#include "dl/profiler.h"
#include "dl/vendor.h"

namespace dl::checked {

#pragma GCC visibility push(hidden)

// Slots of the vendor table or of an extension, in order; kFirst is the offset of the first one.
template <class T>
struct SlotNames;
#define DL_CHECKED_NAMES(struct_type, first, ...)                                               \
  template <>                                                                                   \
  struct SlotNames<struct_type> {                                                               \
    static constexpr size_t kFirst = first;                                                     \
    static constexpr const char* kNames[] = {__VA_ARGS__};                                      \
    static constexpr size_t kCount = sizeof kNames / sizeof *kNames;                            \
    static_assert(sizeof(struct_type) == kFirst + kCount * sizeof(void*), "a slot is missing"); \
  }
DL_CHECKED_NAMES(dl_vendor_table_t, offsetof(dl_vendor_table_t, destroy), "destroy", "present",
                 "device_count", "device_properties", "device_synchronize", "memory_allocate",
                 "memory_free", "memory_info", "host_allocate", "host_free", "memory_copy",
                 "memory_set", "stream_create", "stream_destroy", "stream_synchronize",
                 "stream_query", "stream_wait_event", "event_create", "event_destroy",
                 "event_record", "event_synchronize", "event_query", "event_elapsed", "operators",
                 "last_error", "device_set");
DL_CHECKED_NAMES(dl_communicator_extension_t, sizeof(dl_extension_t), "unique_id", "create",
                 "destroy", "abort", "check", "properties", "group_begin", "group_end",
                 "all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all",
                 "gather", "scatter", "send", "receive", "id_size", "sized_unique_id",
                 "sized_create");
DL_CHECKED_NAMES(dl_kernel_extension_t, sizeof(dl_extension_t), "properties", "compile", "load",
                 "unload", "find", "function_properties", "launch");
DL_CHECKED_NAMES(dl_graph_extension_t, sizeof(dl_extension_t), "capture_begin", "capture_end",
                 "capture_status", "properties", "launch", "destroy");
DL_CHECKED_NAMES(dl_profiler_extension_t, sizeof(dl_extension_t), "start", "stop", "collect",
                 "clock", "correlate");
DL_CHECKED_NAMES(dl_peer_extension_t, sizeof(dl_extension_t), "can_access", "enable_access",
                 "disable_access", "copy", "export_memory", "open_memory", "close_memory",
                 "export_event", "open_event");
DL_CHECKED_NAMES(dl_choices_extension_t, sizeof(dl_extension_t), "properties", "install", "request",
                 "record", "recorded", "statistics");
DL_CHECKED_NAMES(dl_constants_extension_t, sizeof(dl_extension_t), "declare", "forget", "use",
                 "statistics");
#undef DL_CHECKED_NAMES

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_NAMES_HPP_
