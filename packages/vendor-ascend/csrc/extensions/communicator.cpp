// The communicator extension over HCCL. Calls that only move data treat it as bytes, whatever its
// dtype.
#include "extensions/communicator.h"

#include <memory>
#include <string>
#include <vector>

#include "dl/communicator.h"
#include "dl/kit/communicator_id.h"
#include "dl/kit/communicator_slots.h"
#include "extensions/hccl_messages.h"
#include "runtime/driver.h"
#include "runtime/vendor.h"

namespace dl::ascend {
namespace {

using kit::detail::part;
using kit::detail::ReductionCodes;

// Returns HCCL's constant for the dtype of a reduction. Throws Error for an unsupported dtype.
int reduced_type(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_int8:
      return hccl::kInt8;
    case diopi_dtype_int16:
      return hccl::kInt16;
    case diopi_dtype_int32:
      return hccl::kInt32;
    case diopi_dtype_int64:
      return hccl::kInt64;
    case diopi_dtype_float16:
      return hccl::kFloat16;
    case diopi_dtype_float32:
      return hccl::kFloat32;
    case diopi_dtype_bfloat16:
      return hccl::kBfloat16;
    default:
      throw kit::detail::unreduced_dtype(dtype);
  }
}

int reduction_code(int32_t reduce) {
  switch (reduce) {
    case DL_REDUCE_SUM:
      return hccl::kSum;
    case DL_REDUCE_PRODUCT:
      return hccl::kProduct;
    case DL_REDUCE_MINIMUM:
      return hccl::kMinimum;
    case DL_REDUCE_MAXIMUM:
      return hccl::kMaximum;
    case DL_REDUCE_AVERAGE:
      throw kit::Error(DL_NOT_SUPPORTED,
                       "HCCL has no average; reduce by sum and divide the result");
    default:
      throw kit::detail::unknown_reduction(reduce);
  }
}

// HCCL's functions do not declare their inputs const.
void* writable(const void* memory) { return const_cast<void*>(memory); }

struct HcclCall : kit::detail::CommunicatorCall<Vendor> {
  hccl::Library& hccl;
  acl::Stream queue;

  HcclCall(Vendor& v, void* handle, void* its_stream)
      : CommunicatorCall(v, handle, its_stream),
        hccl(v.hccl()),
        queue(static_cast<acl::Stream>(its_stream)) {}

  static void group_begin(Vendor&) { HcclMessages::begin(); }
  static void group_end(Vendor& v) { HcclMessages::end(v); }

  static ReductionCodes reduction(int32_t dtype, int32_t reduce) {
    const ReductionCodes codes{reduced_type(dtype), reduction_code(reduce)};
    if (codes.operation == hccl::kProduct &&
        (codes.type == hccl::kInt16 || codes.type == hccl::kBfloat16))
      throw kit::Error(
          DL_NOT_SUPPORTED,
          "HCCL has no products of int16 and bfloat16; cast to int32 or float32 first");
    return codes;
  }

  void all_reduce(const void* from, void* to, uint64_t count, const ReductionCodes& codes) const {
    run("HcclAllReduce", [&](hccl::Communicator handle) {
      return hccl.all_reduce(writable(from), to, count, codes.type, codes.operation, handle, queue);
    });
  }
  void reduce(const void* from, void* to, uint64_t count, const ReductionCodes& codes,
              int32_t root) const {
    // HCCL requires an address on every rank, and writes on the root only.
    void* const target = to == nullptr ? writable(from) : to;
    run("HcclReduce", [&](hccl::Communicator handle) {
      return hccl.reduce(writable(from), target, count, codes.type, codes.operation,
                         static_cast<uint32_t>(root), handle, queue);
    });
  }
  void reduce_scatter(const void* from, void* to, uint64_t count,
                      const ReductionCodes& codes) const {
    run("HcclReduceScatter", [&](hccl::Communicator handle) {
      return hccl.reduce_scatter(writable(from), to, count, codes.type, codes.operation, handle,
                                 queue);
    });
  }
  // HCCL's buffer is the source on the root and the destination elsewhere.
  void broadcast(const void* from, void* to, uint64_t size, int32_t root) const {
    void* const buffer = is(root) ? writable(from) : to;
    run("HcclBroadcast", [&](hccl::Communicator handle) {
      return hccl.broadcast(buffer, size, hccl::kInt8, static_cast<uint32_t>(root), handle, queue);
    });
    if (is(root)) copy(to, from, size);
  }
  void all_gather(const void* from, void* to, uint64_t size) const {
    run("HcclAllGather", [&](hccl::Communicator handle) {
      return hccl.all_gather(writable(from), to, size, hccl::kInt8, handle, queue);
    });
  }
  void all_to_all(const void* from, void* to, uint64_t size) const {
    run("HcclAlltoAll", [&](hccl::Communicator handle) {
      return hccl.all_to_all(from, size, hccl::kInt8, to, size, hccl::kInt8, handle, queue);
    });
  }
  // The library has no gather, and its scatter is not used, so that both are the same messages.
  void gather(const void* from, void* to, uint64_t size, int32_t root) const {
    if (!is(root)) return send(from, size, root);
    std::vector<HcclMessages::Message> messages;
    for (int32_t other = 0; other < communicator->ranks; ++other) {
      if (other != root)
        messages.push_back(message(hccl::kReceive, part(to, size, other), size, other));
    }
    copy(part(to, size, root), from, size);
    HcclMessages::add(vendor, messages);
  }
  void scatter(const void* from, void* to, uint64_t size, int32_t root) const {
    if (!is(root)) return receive(to, size, root);
    std::vector<HcclMessages::Message> messages;
    for (int32_t other = 0; other < communicator->ranks; ++other) {
      if (other != root)
        messages.push_back(message(hccl::kSend, part(from, size, other), size, other));
    }
    copy(to, part(from, size, root), size);
    HcclMessages::add(vendor, messages);
  }
  void send(const void* from, uint64_t size, int32_t to) const {
    HcclMessages::add(vendor, {message(hccl::kSend, from, size, to)});
  }
  void receive(void* to, uint64_t size, int32_t from) const {
    HcclMessages::add(vendor, {message(hccl::kReceive, to, size, from)});
  }

 private:
  void copy(void* to, const void* from, uint64_t size) const {
    if (to != from)
      vendor.memory_copy(communicator->device, to, from, size, DL_COPY_DEVICE_TO_DEVICE, stream);
  }
  HcclMessages::Message message(int direction, const void* buffer, uint64_t size,
                                int32_t peer) const {
    return {communicator,
            {direction, writable(buffer), size, hccl::kInt8, static_cast<uint32_t>(peer)},
            queue};
  }
};

}  // namespace

hccl::Library& Vendor::hccl() {
  static hccl::Library library;
  static const bool checked = [] {
    if (const char* function = library.missing())
      throw kit::Error(DL_UNAVAILABLE, library.opened() + " has no function " + function +
                                           ": it is older than CANN 8.1; install a later CANN");
    // Request results that do not change from run to run, as for operators. Optional there too.
    hccl::ConfigValue on;
    on.value = 1;
    if (library.set_config.available() && library.set_config(hccl::kDeterministic, on) != 0)
      (void)take_error_text();
    return true;
  }();
  (void)checked;
  return library;
}

hccl::RootInfo Vendor::new_communicator_id() {
  // The runtime must be initialized, which the first count of the devices does, and have a device
  // on this thread; any will do.
  (void)device_count();
  constexpr int32_t kAny = 0;
  int now = -1;
  if (Api::code(api().get_device(&now)) != DL_OK) make_current(kAny);
  hccl::RootInfo id;
  if (const int status = hccl().root_info(&id))
    throw HcclCommunicator::error_of(hccl(), status, "HcclGetRootInfo");
  return id;
}

void* Vendor::join_communicator(int32_t device, const hccl::RootInfo& id, int32_t ranks,
                                int32_t rank, double seconds) {
  return communicators().add(
      std::make_shared<HcclCommunicator>(hccl(), id, device, ranks, rank, seconds));
}

dl_extension_t* communicator_extension(dl_extension_t* next) {
  static dl_communicator_extension_t table{};
  kit::fill_communicator_slots<Vendor, HcclCall>(table, next);
  kit::fill_sized_id_slots<Vendor, hccl::RootInfo>(table);
  return reinterpret_cast<dl_extension_t*>(&table);
}

}  // namespace dl::ascend
