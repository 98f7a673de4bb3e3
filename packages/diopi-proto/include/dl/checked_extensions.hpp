// Wrappers of a library's extensions, in a chain of our own; part of dl/checked.hpp.
#ifndef DL_CHECKED_EXTENSIONS_HPP_
#define DL_CHECKED_EXTENSIONS_HPP_

#include "dl/checked_kernel.hpp"
#include "dl/checked_profiler.hpp"

namespace dl::checked {

#pragma GCC visibility push(hidden)

namespace graph {

using Table = dl_graph_extension_t;

inline dl_status_t* capture_end(dl_vendor_t* self, int32_t device, void* stream,
                                void** graph) noexcept {
  return handle_of<&Table::capture_end>("graph", self, graph, device, stream);
}

inline dl_status_t* properties(dl_vendor_t* self, int32_t device, void* graph,
                               dl_graph_properties_t* properties) noexcept {
  return filled(
      properties, "a graph's properties",
      [&](dl_graph_properties_t* given) {
        return Slot<&Table::properties>::call(self, device, graph, given);
      },
      [](dl_graph_properties_t&) {});
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_AS_IT_IS(capture_begin)
  DL_CHECKED_OURS(capture_end)
  DL_CHECKED_AS_IT_IS(capture_status)
  DL_CHECKED_OURS(properties)
  DL_CHECKED_AS_IT_IS(launch)
  DL_CHECKED_AS_IT_IS(destroy)
  DL_CHECKED_LAST(destroy);
}

}  // namespace graph

namespace communicator {

using Table = dl_communicator_extension_t;

inline dl_status_t* create(dl_vendor_t* self, int32_t device, const dl_communicator_id_t* id,
                           int32_t ranks, int32_t rank, double seconds,
                           void** communicator) noexcept {
  return handle_of<&Table::create>("communicator", self, communicator, device, id, ranks, rank,
                                   seconds);
}

inline dl_status_t* id_size(dl_vendor_t* self, uint64_t* bytes) noexcept {
  *bytes = 0;
  uint64_t found = 0;
  if (dl_status_t* status = Slot<&Table::id_size>::call(self, &found)) return status;
  if (found == 0 || found > kLongestId)
    return defect(format("its communicator ids have %" PRIu64 " bytes, not 1 to %" PRIu64, found,
                         kLongestId));
  *bytes = found;
  return nullptr;
}

inline dl_status_t* sized_create(dl_vendor_t* self, int32_t device, const void* id, uint64_t bytes,
                                 int32_t ranks, int32_t rank, double seconds,
                                 void** communicator) noexcept {
  return handle_of<&Table::sized_create>("communicator", self, communicator, device, id, bytes,
                                         ranks, rank, seconds);
}

inline dl_status_t* properties(dl_vendor_t* self, void* communicator,
                               dl_communicator_properties_t* properties) noexcept {
  if (dl_status_t* status = filled(
          properties, "a communicator's properties",
          [&](dl_communicator_properties_t* given) {
            return Slot<&Table::properties>::call(self, communicator, given);
          },
          [](dl_communicator_properties_t&) {}))
    return status;
  const bool reached =
      DL_CHECKED_REACHES(properties->struct_size, dl_communicator_properties_t, ranks);
  if (reached && (properties->rank < 0 || properties->rank >= properties->ranks))
    return defect(format("its communicator is rank %d of %d", properties->rank, properties->ranks));
  return nullptr;
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_AS_IT_IS(unique_id)
  DL_CHECKED_OURS(create)
  DL_CHECKED_AS_IT_IS(destroy)
  DL_CHECKED_AS_IT_IS(abort)
  DL_CHECKED_AS_IT_IS(check)
  DL_CHECKED_OURS(properties)
  DL_CHECKED_AS_IT_IS(group_begin)
  DL_CHECKED_AS_IT_IS(group_end)
  DL_CHECKED_AS_IT_IS(all_reduce)
  DL_CHECKED_AS_IT_IS(reduce)
  DL_CHECKED_AS_IT_IS(broadcast)
  DL_CHECKED_AS_IT_IS(all_gather)
  DL_CHECKED_AS_IT_IS(reduce_scatter)
  DL_CHECKED_AS_IT_IS(all_to_all)
  DL_CHECKED_AS_IT_IS(gather)
  DL_CHECKED_AS_IT_IS(scatter)
  DL_CHECKED_AS_IT_IS(send)
  DL_CHECKED_AS_IT_IS(receive)
  DL_CHECKED_OURS(id_size)
  DL_CHECKED_AS_IT_IS(sized_unique_id)
  DL_CHECKED_OURS(sized_create)
  DL_CHECKED_LAST(sized_create);
}

}  // namespace communicator

namespace peer {

using Table = dl_peer_extension_t;

inline dl_status_t* open_memory(dl_vendor_t* self, int32_t device, const dl_peer_handle_t* handle,
                                void** memory, uint64_t* bytes) noexcept {
  *memory = nullptr;
  *bytes = 0;
  void* found = nullptr;
  uint64_t size = 0;
  if (dl_status_t* status = Slot<&Table::open_memory>::call(self, device, handle, &found, &size))
    return status;
  if (found == nullptr || size == 0)
    return defect(format("it opens %" PRIu64 " bytes of memory at %p", size, found));
  *memory = found;
  *bytes = size;
  return nullptr;
}

inline dl_status_t* open_event(dl_vendor_t* self, int32_t device, const dl_peer_handle_t* handle,
                               void** event) noexcept {
  return handle_of<&Table::open_event>("event", self, event, device, handle);
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_AS_IT_IS(can_access)
  DL_CHECKED_AS_IT_IS(enable_access)
  DL_CHECKED_AS_IT_IS(disable_access)
  DL_CHECKED_AS_IT_IS(copy)
  DL_CHECKED_AS_IT_IS(export_memory)
  DL_CHECKED_OURS(open_memory)
  DL_CHECKED_AS_IT_IS(close_memory)
  DL_CHECKED_AS_IT_IS(export_event)
  DL_CHECKED_OURS(open_event)
  DL_CHECKED_LAST(open_event);
}

}  // namespace peer

namespace choices {

using Table = dl_choices_extension_t;

inline dl_status_t* properties(dl_vendor_t* self, int32_t device,
                               dl_choice_properties_t* properties) noexcept {
  return filled(
      properties, "properties of choices",
      [&](dl_choice_properties_t* given) {
        return Slot<&Table::properties>::call(self, device, given);
      },
      [](dl_choice_properties_t& given) { tidy(given.identity); });
}

inline dl_status_t* recorded(dl_vendor_t* self, int32_t device, uint64_t number,
                             dl_choice_record_t* record) noexcept {
  if (dl_status_t* status = filled(
          record, "a record",
          [&](dl_choice_record_t* given) {
            return Slot<&Table::recorded>::call(self, device, number, given);
          },
          [](dl_choice_record_t& given) {
            tidy(given.key.point);
            tidy(given.choices);
          }))
    return status;
  const uint64_t count = record->key.count;
  if (count > DL_CHOICE_MOST_VALUES)
    return defect(format("its record %" PRIu64 " has a key of %" PRIu64 " values", number, count));
  return nullptr;
}

inline dl_status_t* statistics(dl_vendor_t* self, int32_t device,
                               dl_choice_statistics_t* statistics) noexcept {
  return filled(
      statistics, "statistics of choices",
      [&](dl_choice_statistics_t* given) {
        return Slot<&Table::statistics>::call(self, device, given);
      },
      [](dl_choice_statistics_t&) {});
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_OURS(properties)
  DL_CHECKED_AS_IT_IS(install)
  DL_CHECKED_AS_IT_IS(request)
  DL_CHECKED_AS_IT_IS(record)
  DL_CHECKED_OURS(recorded)
  DL_CHECKED_OURS(statistics)
  DL_CHECKED_LAST(statistics);
}

}  // namespace choices

namespace constants {

using Table = dl_constants_extension_t;

inline dl_status_t* statistics(dl_vendor_t* self, int32_t device,
                               dl_constants_statistics_t* statistics) noexcept {
  return filled(
      statistics, "statistics of constants",
      [&](dl_constants_statistics_t* given) {
        return Slot<&Table::statistics>::call(self, device, given);
      },
      [](dl_constants_statistics_t&) {});
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_AS_IT_IS(declare)
  DL_CHECKED_AS_IT_IS(forget)
  DL_CHECKED_AS_IT_IS(use)
  DL_CHECKED_OURS(statistics)
  DL_CHECKED_LAST(statistics);
}

}  // namespace constants

// Extensions unknown to this header are omitted; code that knows them reads the library's own
// table.
inline void Vendor::chain() {
  for (const dl_extension_t* link = inner_->table->extensions; link != nullptr; link = link->next)
    each_extension(their_extensions_, [&](auto& theirs) {
      if (link->type == ExtensionType<std::decay_t<decltype(theirs)>>::kType)
        copy_reached(theirs, link, link->struct_size);
    });
  const auto offer = [&](auto& theirs, auto& ours, auto wrap) {
    if (theirs.type == 0) return;
    ours.struct_size = sizeof ours;
    ours.type = theirs.type;
    ours.next = ours_.extensions;
    wrap(theirs, ours);
    ours_.extensions = reinterpret_cast<dl_extension_t*>(&ours);
  };
#define DL_CHECKED_OFFER(which)                                \
  offer(std::get<dl_##which##_extension_t>(their_extensions_), \
        std::get<dl_##which##_extension_t>(our_extensions_), which::wrap);
  DL_CHECKED_OFFER(communicator)
  DL_CHECKED_OFFER(kernel)
  DL_CHECKED_OFFER(graph)
  DL_CHECKED_OFFER(profiler)
  DL_CHECKED_OFFER(peer)
  DL_CHECKED_OFFER(choices)
  DL_CHECKED_OFFER(constants)
#undef DL_CHECKED_OFFER
}

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_EXTENSIONS_HPP_
