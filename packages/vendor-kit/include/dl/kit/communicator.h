// The communicator extension over NCCL or RCCL, for a vendor that derives from Communicating and
// has
//
//   Nccl& nccl()
#ifndef DL_KIT_COMMUNICATOR_H_
#define DL_KIT_COMMUNICATOR_H_

#include <cstdint>
#include <cstring>
#include <memory>

#include "dl/communicator.h"
#include "dl/kit/base.h"
#include "dl/kit/collective_call.h"
#include "dl/kit/communicator_id.h"
#include "dl/kit/communicator_slots.h"

DL_KIT_BEGIN

template <class Base>
using Communicating = HoldingCommunicators<Base, NcclCommunicator>;

namespace detail {

template <class V>
struct NcclIdSlots {
  static dl_status_t* unique_id(dl_vendor_t* vendor, dl_communicator_id_t* id) {
    return slot<V>(vendor, [&](V& v) {
      nccl::UniqueId name;
      const int result = v.nccl().unique_id(&name);
      if (result != nccl::kSuccess)
        throw Error(DL_ERROR, v.nccl().error_string(result), "ncclGetUniqueId");
      std::memcpy(id, &name, sizeof name);
    });
  }
  static dl_status_t* create(dl_vendor_t* vendor, int32_t device, const dl_communicator_id_t* id,
                             int32_t ranks, int32_t rank, double seconds, void** communicator) {
    return device_slot<V>(vendor, device, [&](V& v) {
      check_membership(ranks, rank, seconds);
      *communicator = v.communicators().add(
          std::make_shared<NcclCommunicator>(v.nccl(), *id, device, ranks, rank, seconds));
    });
  }
};

}  // namespace detail

// Returns the extension of a vendor that derives from Communicating.
template <class V>
dl_extension_t* communicator_extension(dl_extension_t* next) {
  static dl_communicator_extension_t table{};
  fill_communicator_slots<V, detail::NcclCall<V>>(table, next);
  table.unique_id = detail::NcclIdSlots<V>::unique_id;
  table.create = detail::NcclIdSlots<V>::create;
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_COMMUNICATOR_H_
