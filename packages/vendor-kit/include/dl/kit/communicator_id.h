// Slots for identifiers of communicators that are longer than dl_communicator_id_t, such as HCCL's.
#ifndef DL_KIT_COMMUNICATOR_ID_H_
#define DL_KIT_COMMUNICATOR_ID_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "dl/communicator.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

// Throws Error if the arguments of a `create` slot are invalid.
inline void check_membership(int32_t ranks, int32_t rank, double seconds) {
  if (ranks < 1 || rank < 0 || rank >= ranks)
    throw Error(DL_INVALID_ARGUMENT, "rank " + std::to_string(rank) + " of " +
                                         std::to_string(ranks) +
                                         " ranks; they are numbered from 0");
  if (!(seconds >= 0))
    throw Error(DL_INVALID_ARGUMENT,
                std::to_string(seconds) + " seconds is not a valid timeout; 0 means no timeout");
}

namespace detail {

template <class V, class Id>
struct SizedIdSlots {
  static_assert(std::is_trivially_copyable_v<Id>, "an identifier is sent to other ranks as bytes");

  static void check_size(const void* id, uint64_t bytes) {
    if (id == nullptr || bytes != sizeof(Id))
      throw Error(DL_INVALID_ARGUMENT, "the id is NULL or has " + std::to_string(bytes) +
                                           " bytes; an id of this vendor has " +
                                           std::to_string(sizeof(Id)));
  }
  static dl_status_t* id_size(dl_vendor_t* vendor, uint64_t* bytes) {
    return slot<V>(vendor, [&](V&) { *bytes = sizeof(Id); });
  }
  static dl_status_t* unique_id(dl_vendor_t* vendor, void* id, uint64_t bytes) {
    return slot<V>(vendor, [&](V& v) {
      check_size(id, bytes);
      const Id made = v.new_communicator_id();
      std::memcpy(id, &made, sizeof made);
    });
  }
  static dl_status_t* create(dl_vendor_t* vendor, int32_t device, const void* id, uint64_t bytes,
                             int32_t ranks, int32_t rank, double seconds, void** communicator) {
    return device_slot<V>(vendor, device, [&](V& v) {
      check_membership(ranks, rank, seconds);
      check_size(id, bytes);
      Id given;
      std::memcpy(static_cast<void*>(&given), id, sizeof given);
      *communicator = v.join_communicator(device, given, ranks, rank, seconds);
    });
  }
};

}  // namespace detail

// Fills the slots of `table` for identifiers of the driver's type `Id`. The vendor has
//
//   Id new_communicator_id();
//   void* join_communicator(int32_t device, const Id& id, int32_t ranks, int32_t rank,
//                           double seconds);   returns the handle of the communicator
template <class V, class Id>
void fill_sized_id_slots(dl_communicator_extension_t& table) {
  using Slots = detail::SizedIdSlots<V, Id>;
  table.id_size = Slots::id_size;
  table.sized_unique_id = Slots::unique_id;
  table.sized_create = Slots::create;
}

DL_KIT_END

#endif  // DL_KIT_COMMUNICATOR_ID_H_
