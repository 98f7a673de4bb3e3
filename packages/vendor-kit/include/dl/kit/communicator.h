// The communicator extension over NCCL or RCCL, for a vendor that derives from Runtime and has
//
//   Nccl& nccl()
#ifndef DL_KIT_COMMUNICATOR_H_
#define DL_KIT_COMMUNICATOR_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "dl/communicator.h"
#include "dl/kit/base.h"
#include "dl/kit/collective_call.h"
#include "dl/kit/communicator_id.h"
#include "dl/kit/extension.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

// Mixin that holds the communicators of an instance.
template <class Base>
class Communicating : public Base {
 public:
  Handles<NcclCommunicator>& communicators() { return communicators_; }

 private:
  Handles<NcclCommunicator> communicators_{"communicator"};
};

namespace detail {

template <class V>
struct CommunicatorSlots {
  using Call = CollectiveCall<V>;

  template <class Body>
  static dl_status_t* call(dl_vendor_t* vendor, void* handle, void* stream, const Body& body) {
    return slot<V>(vendor, [&](V& v) { body(Call(v, handle, stream)); });
  }

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
  static dl_status_t* destroy(dl_vendor_t* vendor, void* handle) {
    return slot<V>(vendor, [&](V& v) {
      const auto gone = v.communicators().remove(handle);
      v.make_current(gone->device);
    });
  }
  static dl_status_t* abort(dl_vendor_t* vendor, void* handle) {
    return slot<V>(vendor, [&](V& v) { v.communicators().find(handle)->abort(); });
  }
  static dl_status_t* check(dl_vendor_t* vendor, void* handle) {
    return slot<V>(vendor, [&](V& v) { v.communicators().find(handle)->check(); });
  }
  static dl_status_t* properties(dl_vendor_t* vendor, void* handle,
                                 dl_communicator_properties_t* properties) {
    return slot<V>(vendor, [&](V& v) {
      const auto found = v.communicators().find(handle);
      dl_communicator_properties_t all{};
      all.rank = found->rank;
      all.ranks = found->ranks;
      all.device = found->device;
      all.aborted = found->aborted() ? 1 : 0;
      fill(properties, all);
    });
  }
  static dl_status_t* group_begin(dl_vendor_t* vendor) {
    return slot<V>(vendor, [&](V& v) { NcclCommunicator::group_begin(v.nccl()); });
  }
  static dl_status_t* group_end(dl_vendor_t* vendor) {
    return slot<V>(vendor, [&](V& v) { NcclCommunicator::group_end(v.nccl()); });
  }

  static dl_status_t* all_reduce(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                 uint64_t count, int32_t dtype, int32_t reduce, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      const int type = reduced_type(dtype), operation = reduction(reduce);
      if (c.bytes(count, dtype) == 0) return;
      c.run("ncclAllReduce", [&](nccl::Communicator one) {
        return c.nccl.all_reduce(send, receive, count, type, operation, one, stream);
      });
    });
  }
  static dl_status_t* reduce(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                             uint64_t count, int32_t dtype, int32_t reduce, int32_t root,
                             void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      const int type = reduced_type(dtype), operation = reduction(reduce);
      if (c.bytes(count, dtype) == 0) return;
      c.run("ncclReduce", [&](nccl::Communicator one) {
        return c.nccl.reduce(send, receive, count, type, operation, root, one, stream);
      });
    });
  }
  static dl_status_t* broadcast(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                uint64_t count, int32_t dtype, int32_t root, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      const uint64_t size = c.bytes(count, dtype);
      if (size == 0) return;
      c.run("ncclBroadcast", [&](nccl::Communicator one) {
        return c.nccl.broadcast(c.is(root) ? send : receive, receive, size, nccl::kInt8, root, one,
                                stream);
      });
    });
  }
  static dl_status_t* all_gather(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                 uint64_t count, int32_t dtype, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      const uint64_t size = c.bytes(count, dtype);
      if (size == 0) return;
      c.run("ncclAllGather", [&](nccl::Communicator one) {
        return c.nccl.all_gather(send, receive, size, nccl::kInt8, one, stream);
      });
    });
  }
  static dl_status_t* reduce_scatter(dl_vendor_t* vendor, void* handle, const void* send,
                                     void* receive, uint64_t count, int32_t dtype, int32_t reduce,
                                     void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      const int type = reduced_type(dtype), operation = reduction(reduce);
      if (c.bytes(count, dtype) == 0) return;
      c.run("ncclReduceScatter", [&](nccl::Communicator one) {
        return c.nccl.reduce_scatter(send, receive, count, type, operation, one, stream);
      });
    });
  }
  static dl_status_t* all_to_all(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                 uint64_t count, int32_t dtype, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      const uint64_t size = c.bytes(count, dtype);
      if (size == 0) return;
      // Parts of the buffer would be overwritten before they are sent.
      if (send == receive)
        throw Error(DL_NOT_SUPPORTED,
                    "all_to_all cannot run in place; pass a separate receive buffer");
      c.together([&] {
        for (int32_t other = 0; other < c.communicator->ranks; ++other) {
          c.send(part(send, size, other), size, other);
          c.receive(part(receive, size, other), size, other);
        }
      });
    });
  }
  static dl_status_t* gather(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                             uint64_t count, int32_t dtype, int32_t root, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      const uint64_t size = c.bytes(count, dtype);
      if (size == 0) return;
      const bool in_place = c.is(root) && part(receive, size, root) == send;
      c.together([&] {
        if (!in_place) c.send(send, size, root);
        for (int32_t other = 0; c.is(root) && other < c.communicator->ranks; ++other) {
          if (other != root || !in_place) c.receive(part(receive, size, other), size, other);
        }
      });
    });
  }
  static dl_status_t* scatter(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                              uint64_t count, int32_t dtype, int32_t root, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      const uint64_t size = c.bytes(count, dtype);
      if (size == 0) return;
      const bool in_place = c.is(root) && part(send, size, root) == receive;
      c.together([&] {
        for (int32_t other = 0; c.is(root) && other < c.communicator->ranks; ++other) {
          if (other != root || !in_place) c.send(part(send, size, other), size, other);
        }
        if (!in_place) c.receive(receive, size, root);
      });
    });
  }
  static dl_status_t* send(dl_vendor_t* vendor, void* handle, const void* send, uint64_t count,
                           int32_t dtype, int32_t peer, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("peer", peer);
      if (const uint64_t size = c.bytes(count, dtype)) c.send(send, size, peer);
    });
  }
  static dl_status_t* receive(dl_vendor_t* vendor, void* handle, void* receive, uint64_t count,
                              int32_t dtype, int32_t peer, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("peer", peer);
      if (const uint64_t size = c.bytes(count, dtype)) c.receive(receive, size, peer);
    });
  }
};

}  // namespace detail

// Returns the extension of a vendor that derives from Communicating.
template <class V>
dl_extension_t* communicator_extension(dl_extension_t* next) {
  using Slots = detail::CommunicatorSlots<V>;
  static dl_communicator_extension_t table{};
  table.struct_size = sizeof table;
  table.type = DL_EXT_COMMUNICATOR;
  table.next = next;
  table.unique_id = Slots::unique_id;
  table.create = Slots::create;
  table.destroy = Slots::destroy;
  table.abort = Slots::abort;
  table.check = Slots::check;
  table.properties = Slots::properties;
  table.group_begin = Slots::group_begin;
  table.group_end = Slots::group_end;
  table.all_reduce = Slots::all_reduce;
  table.reduce = Slots::reduce;
  table.broadcast = Slots::broadcast;
  table.all_gather = Slots::all_gather;
  table.reduce_scatter = Slots::reduce_scatter;
  table.all_to_all = Slots::all_to_all;
  table.gather = Slots::gather;
  table.scatter = Slots::scatter;
  table.send = Slots::send;
  table.receive = Slots::receive;
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_COMMUNICATOR_H_
