#include "extensions/communicator.h"

#include <cstring>
#include <string>
#include <utility>

#include "dl/dtype.h"
#include "extensions/extensions.h"
#include "lie.h"
#include "slots.h"

namespace dl::async_test {
namespace {

dl_status_t* unique_id(dl_vendor_t* vendor, dl_communicator_id_t* id) {
  return slot(vendor, [&](Instance&) { given(id, "the id") = new_communicator_id(); });
}

void* join(Instance& all, int32_t index, const dl_communicator_id_t& id, int32_t ranks,
           int32_t rank, double seconds) {
  if (ranks < 1 || ranks > 1024 || rank < 0 || rank >= ranks) {
    throw Error(DL_INVALID_ARGUMENT,
                "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                    " ranks is invalid; supported: 1 to 1024 ranks, numbered from 0");
  }
  if (!(seconds >= 0))
    throw Error(DL_INVALID_ARGUMENT,
                std::to_string(seconds) + " seconds is not a timeout; 0 means no timeout");
  const auto world = world_of(id, ranks);
  world->join(rank, seconds);
  return all.communicators().add(std::make_shared<Communicator>(world, index, rank));
}

dl_status_t* create(dl_vendor_t* vendor, int32_t index, const dl_communicator_id_t* id,
                    int32_t ranks, int32_t rank, double seconds, void** communicator) {
  return device_slot(vendor, index, [&](Instance& all, Device&) {
    *communicator = join(all, index, given(id, "the id"), ranks, rank, seconds);
  });
}

// Long ids: a short id, followed by filler bytes that depend on their position and are checked.

unsigned char filler(uint64_t position) {
  return static_cast<unsigned char>(1 + position * 2654435761U % 255);
}

void check_id_size(const Instance& all, const void* id, uint64_t bytes) {
  if (id == nullptr || bytes != all.options().id_bytes)
    throw Error(DL_INVALID_ARGUMENT, "the id is NULL or has " + std::to_string(bytes) +
                                         " bytes, not " + std::to_string(all.options().id_bytes));
}

dl_status_t* id_size(dl_vendor_t* vendor, uint64_t* bytes) {
  return slot(vendor, [&](Instance& all) { given(bytes, "the size") = all.options().id_bytes; });
}

dl_status_t* sized_unique_id(dl_vendor_t* vendor, void* id, uint64_t bytes) {
  return slot(vendor, [&](Instance& all) {
    check_id_size(all, id, bytes);
    const dl_communicator_id_t first = new_communicator_id();
    std::memcpy(id, &first, sizeof first);
    for (uint64_t i = sizeof first; i < bytes; ++i) static_cast<unsigned char*>(id)[i] = filler(i);
  });
}

dl_status_t* sized_create(dl_vendor_t* vendor, int32_t index, const void* id, uint64_t bytes,
                          int32_t ranks, int32_t rank, double seconds, void** communicator) {
  return device_slot(vendor, index, [&](Instance& all, Device&) {
    check_id_size(all, id, bytes);
    dl_communicator_id_t first;
    std::memcpy(&first, id, sizeof first);
    for (uint64_t i = sizeof first; i < bytes; ++i)
      if (static_cast<const unsigned char*>(id)[i] != filler(i))
        throw Error(DL_INVALID_ARGUMENT, "byte " + std::to_string(i) + " of the id is wrong");
    *communicator = join(all, index, first, ranks, rank, seconds);
  });
}

dl_status_t* destroy(dl_vendor_t* vendor, void* handle) {
  return slot(vendor, [&](Instance& all) { all.communicators().remove(handle); });
}

dl_status_t* abort(dl_vendor_t* vendor, void* handle) {
  return slot(vendor, [&](Instance& all) { all.communicators().find(handle)->abort(); });
}

dl_status_t* check(dl_vendor_t* vendor, void* handle) {
  return slot(vendor, [&](Instance& all) { all.communicators().find(handle)->check(); });
}

dl_status_t* properties(dl_vendor_t* vendor, void* handle,
                        dl_communicator_properties_t* properties) {
  return slot(vendor, [&](Instance& all) {
    const auto communicator = all.communicators().find(handle);
    dl_communicator_properties_t found = {};
    found.rank = lie_is(Lie::kRankIsNone) ? -1 : communicator->rank;
    found.ranks = communicator->world->ranks();
    found.device = communicator->device;
    found.aborted = communicator->aborted() ? 1 : 0;
    fill(properties, found);
  });
}

dl_status_t* group_begin_slot(dl_vendor_t* vendor) {
  return slot(vendor, [&](Instance& all) { group_begin(all.number()); });
}

dl_status_t* group_end_slot(dl_vendor_t* vendor) {
  return slot(vendor, [&](Instance& all) { group_end(all.number()); });
}

/** A buffer of a call. */
struct Buffer {
  const void* memory;
  bool all_ranks;  // `count` elements per rank, not in total
  bool used;       // by this rank
};

/** Checks and submits one call of a communicator, for its slots. */
class Caller {
 public:
  Caller(Instance& all, void* handle) : all_(all), communicator_(all.communicators().find(handle)) {
    if (communicator_->aborted())
      throw Error(DL_INVALID_ARGUMENT, "the communicator was aborted; create another one");
  }

  bool is(int32_t rank) const { return communicator_->rank == rank; }
  int32_t rank() const { return communicator_->rank; }

  void check_rank(const char* what, int32_t rank) const {
    if (rank < 0 || rank >= communicator_->world->ranks()) {
      throw Error(DL_INVALID_ARGUMENT,
                  std::string(what) + " " + std::to_string(rank) + " is not one of the " +
                      std::to_string(communicator_->world->ranks()) + " ranks");
    }
  }

  void submit(const char* name, const Terms& terms, const Buffer& send, const Buffer& receive,
              void* stream_handle, int32_t from = -1, int32_t to = -1) {
    check(terms);
    Device& device = all_.any_device(communicator_->device);
    const auto stream = device.stream(stream_handle);
    if (stream->capturing())
      throw Error(DL_NOT_SUPPORTED,
                  "the stream is being captured, and this vendor's graphs cannot contain "
                  "collectives; enqueue them outside of the capture");
    const Share share = {bytes(device, terms, send), bytes(device, terms, receive), nullptr};
    // A message has two ends: its sender and its receiver.
    const int32_t place = from < 0 ? communicator_->rank : (send.used ? 0 : 1);
    async_test::submit(all_.number(),
                       Call{communicator_, stream, name, communicator_->next(from, to, place),
                            place, terms, share});
  }

 private:
  static void check(const Terms& terms) {
    if (dl_dtype_bytes(terms.dtype) == 0)
      throw Error(DL_INVALID_ARGUMENT,
                  "dtype " + std::to_string(terms.dtype) + " is not a diopiDtype_t");
    const bool reduces = terms.kind == Terms::kAllReduce || terms.kind == Terms::kReduce ||
                         terms.kind == Terms::kReduceScatter;
    if (!reduces) return;
    if (terms.reduce < DL_REDUCE_SUM || terms.reduce > DL_REDUCE_AVERAGE)
      throw Error(DL_NOT_SUPPORTED, "operation " + std::to_string(terms.reduce) +
                                        " is not a dl_reduce_t that this vendor knows");
    if (!can_reduce(terms.dtype))
      throw Error(DL_NOT_SUPPORTED, "dtype " + std::to_string(terms.dtype) +
                                        " cannot be reduced; cast to float32 or an integer first");
  }

  std::byte* bytes(Device& device, const Terms& terms, const Buffer& buffer) const {
    const auto parts =
        buffer.all_ranks ? static_cast<uint64_t>(communicator_->world->ranks()) : uint64_t{1};
    uint64_t size = 0;
    if (__builtin_mul_overflow(terms.count,
                               parts * static_cast<uint64_t>(dl_dtype_bytes(terms.dtype)), &size))
      throw Error(DL_INVALID_ARGUMENT, std::to_string(terms.count) + " elements are too many");
    if (!buffer.used || size == 0) return nullptr;
    return device.memory().translate(buffer.memory, size);
  }

  Instance& all_;
  const std::shared_ptr<Communicator> communicator_;
};

template <class Body>
dl_status_t* call(dl_vendor_t* vendor, void* handle, const Body& body) noexcept {
  return slot(vendor, [&](Instance& all) {
    Caller caller(all, handle);
    body(caller);
  });
}

dl_status_t* all_reduce(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                        uint64_t count, int32_t dtype, int32_t reduce, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.submit("all_reduce", {Terms::kAllReduce, count, dtype, reduce, -1}, {send, false, true},
                  {receive, false, true}, stream);
  });
}

dl_status_t* reduce(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                    uint64_t count, int32_t dtype, int32_t reduce, int32_t root, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.check_rank("root", root);
    caller.submit("reduce", {Terms::kReduce, count, dtype, reduce, root}, {send, false, true},
                  {receive, false, caller.is(root)}, stream);
  });
}

dl_status_t* broadcast(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                       uint64_t count, int32_t dtype, int32_t root, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.check_rank("root", root);
    caller.submit("broadcast", {Terms::kBroadcast, count, dtype, -1, root},
                  {send, false, caller.is(root)}, {receive, false, true}, stream);
  });
}

dl_status_t* all_gather(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                        uint64_t count, int32_t dtype, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.submit("all_gather", {Terms::kAllGather, count, dtype, -1, -1}, {send, false, true},
                  {receive, true, true}, stream);
  });
}

dl_status_t* reduce_scatter(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                            uint64_t count, int32_t dtype, int32_t reduce, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.submit("reduce_scatter", {Terms::kReduceScatter, count, dtype, reduce, -1},
                  {send, true, true}, {receive, false, true}, stream);
  });
}

dl_status_t* all_to_all(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                        uint64_t count, int32_t dtype, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.submit("all_to_all", {Terms::kAllToAll, count, dtype, -1, -1}, {send, true, true},
                  {receive, true, true}, stream);
  });
}

dl_status_t* gather(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                    uint64_t count, int32_t dtype, int32_t root, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.check_rank("root", root);
    caller.submit("gather", {Terms::kGather, count, dtype, -1, root}, {send, false, true},
                  {receive, true, caller.is(root)}, stream);
  });
}

dl_status_t* scatter(dl_vendor_t* vendor, void* handle, const void* send, void* receive,
                     uint64_t count, int32_t dtype, int32_t root, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.check_rank("root", root);
    caller.submit("scatter", {Terms::kScatter, count, dtype, -1, root},
                  {send, true, caller.is(root)}, {receive, false, true}, stream);
  });
}

dl_status_t* send(dl_vendor_t* vendor, void* handle, const void* send, uint64_t count,
                  int32_t dtype, int32_t peer, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.check_rank("peer", peer);
    caller.submit("send", {Terms::kMessage, count, dtype, -1, -1}, {send, false, true},
                  {nullptr, false, false}, stream, caller.rank(), peer);
  });
}

dl_status_t* receive(dl_vendor_t* vendor, void* handle, void* receive, uint64_t count,
                     int32_t dtype, int32_t peer, void* stream) {
  return call(vendor, handle, [&](Caller& caller) {
    caller.check_rank("peer", peer);
    caller.submit("receive", {Terms::kMessage, count, dtype, -1, -1}, {nullptr, false, false},
                  {receive, false, true}, stream, peer, caller.rank());
  });
}

}  // namespace

dl_extension_t* communicator_extension(dl_extension_t* next) {
  static dl_communicator_extension_t communicator = {sizeof(dl_communicator_extension_t),
                                                     DL_EXT_COMMUNICATOR,
                                                     next,
                                                     unique_id,
                                                     create,
                                                     destroy,
                                                     abort,
                                                     check,
                                                     properties,
                                                     group_begin_slot,
                                                     group_end_slot,
                                                     all_reduce,
                                                     reduce,
                                                     broadcast,
                                                     all_gather,
                                                     reduce_scatter,
                                                     all_to_all,
                                                     gather,
                                                     scatter,
                                                     send,
                                                     receive,
                                                     nullptr,
                                                     nullptr,
                                                     nullptr};
  if (Options::from_environment().id_bytes > 0) {
    communicator.unique_id = nullptr;
    communicator.create = nullptr;
    communicator.id_size = id_size;
    communicator.sized_unique_id = sized_unique_id;
    communicator.sized_create = sized_create;
  }
  return reinterpret_cast<dl_extension_t*>(&communicator);
}

}  // namespace dl::async_test
