// The slots of the communicator extension, for any library of collectives, but for those with
// identifiers.
//
// The vendor derives from HoldingCommunicators. A communicator has the members `device`, `ranks`
// and `rank`, and the methods abort(), aborted(), check() and call(operation, enqueue). `Call`
// derives from CommunicatorCall, with its constructor, and has
//
//   static void group_begin(V&), group_end(V&)
//   static ReductionCodes reduction(int32_t dtype, int32_t reduce)    throws DL_NOT_SUPPORTED
//
// and these methods, whose sizes are numbers of bytes greater than 0; calls that only move data
// have no dtype:
//
//   void all_reduce(const void* send, void* receive, uint64_t count, const ReductionCodes&) const
//   void reduce(send, receive, count, codes, int32_t root) const
//   void reduce_scatter(send, receive, count, codes) const
//   void broadcast(const void* send, void* receive, uint64_t size, int32_t root) const
//   void all_gather(send, receive, size) const
//   void all_to_all(send, receive, size) const
//   void gather(send, receive, size, root) const
//   void scatter(send, receive, size, root) const
//   void send(const void* from, uint64_t size, int32_t to) const
//   void receive(void* to, uint64_t size, int32_t from) const
#ifndef DL_KIT_COMMUNICATOR_SLOTS_H_
#define DL_KIT_COMMUNICATOR_SLOTS_H_

#include <cstdint>

#include "dl/communicator.h"
#include "dl/kit/base.h"
#include "dl/kit/communicator_call.h"
#include "dl/kit/extension.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

namespace detail {

template <class V, class Call>
struct CommunicatorSlots {
  template <class Body>
  static dl_status_t* call(dl_vendor_t* vendor, void* handle, void* stream, const Body& body) {
    return slot<V>(vendor, [&](V& v) { body(Call(v, handle, stream)); });
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
    return slot<V>(vendor, [&](V& v) { Call::group_begin(v); });
  }
  static dl_status_t* group_end(dl_vendor_t* vendor) {
    return slot<V>(vendor, [&](V& v) { Call::group_end(v); });
  }

  static dl_status_t* all_reduce(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                 uint64_t count, int32_t dtype, int32_t reduce, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      const ReductionCodes codes = Call::reduction(dtype, reduce);
      if (c.bytes(count, dtype) != 0) c.all_reduce(send, receive, count, codes);
    });
  }
  static dl_status_t* reduce(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                             uint64_t count, int32_t dtype, int32_t reduce, int32_t root,
                             void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      const ReductionCodes codes = Call::reduction(dtype, reduce);
      if (c.bytes(count, dtype) != 0) c.reduce(send, receive, count, codes, root);
    });
  }
  static dl_status_t* broadcast(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                uint64_t count, int32_t dtype, int32_t root, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      if (const uint64_t size = c.bytes(count, dtype)) c.broadcast(send, receive, size, root);
    });
  }
  static dl_status_t* all_gather(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                                 uint64_t count, int32_t dtype, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      if (const uint64_t size = c.bytes(count, dtype)) c.all_gather(send, receive, size);
    });
  }
  static dl_status_t* reduce_scatter(dl_vendor_t* vendor, void* handle, const void* send,
                                     void* receive, uint64_t count, int32_t dtype, int32_t reduce,
                                     void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      const ReductionCodes codes = Call::reduction(dtype, reduce);
      if (c.bytes(count, dtype) != 0) c.reduce_scatter(send, receive, count, codes);
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
      c.all_to_all(send, receive, size);
    });
  }
  static dl_status_t* gather(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                             uint64_t count, int32_t dtype, int32_t root, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      if (const uint64_t size = c.bytes(count, dtype)) c.gather(send, receive, size, root);
    });
  }
  static dl_status_t* scatter(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                              uint64_t count, int32_t dtype, int32_t root, void* stream) {
    return call(vendor, handle, stream, [&](const Call& c) {
      c.check_rank("root", root);
      if (const uint64_t size = c.bytes(count, dtype)) c.scatter(send, receive, size, root);
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

// Fills a table, apart from the slots with identifiers.
template <class V, class Call>
void fill_communicator_slots(dl_communicator_extension_t& table, dl_extension_t* next) {
  using Slots = detail::CommunicatorSlots<V, Call>;
  table.struct_size = sizeof table;
  table.type = DL_EXT_COMMUNICATOR;
  table.next = next;
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
}

DL_KIT_END

#endif  // DL_KIT_COMMUNICATOR_SLOTS_H_
