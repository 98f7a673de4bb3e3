// One call of an NCCL communicator, and the mapping from the contract's constants to NCCL's; part
// of communicator.h.
#ifndef DL_KIT_COLLECTIVE_CALL_H_
#define DL_KIT_COLLECTIVE_CALL_H_

#include <cstdint>

#include "dl/communicator.h"
#include "dl/dtype.h"
#include "dl/kit/base.h"
#include "dl/kit/communicator_call.h"
#include "dl/kit/nccl_communicator.h"

DL_KIT_BEGIN

namespace detail {

// Returns NCCL's constant for the dtype of a reduction. Throws Error for an unsupported dtype.
inline int reduced_type(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_int8:
      return nccl::kInt8;
    case diopi_dtype_uint8:
      return nccl::kUint8;
    case diopi_dtype_int32:
      return nccl::kInt32;
    case diopi_dtype_uint32:
      return nccl::kUint32;
    case diopi_dtype_int64:
      return nccl::kInt64;
    case diopi_dtype_uint64:
      return nccl::kUint64;
    case diopi_dtype_float16:
      return nccl::kFloat16;
    case diopi_dtype_float32:
      return nccl::kFloat32;
    case diopi_dtype_float64:
      return nccl::kFloat64;
    case diopi_dtype_bfloat16:
      return nccl::kBfloat16;
    default:
      throw unreduced_dtype(dtype);
  }
}

inline int reduction_code(int32_t reduce) {
  switch (reduce) {
    case DL_REDUCE_SUM:
      return nccl::kSum;
    case DL_REDUCE_PRODUCT:
      return nccl::kProduct;
    case DL_REDUCE_MINIMUM:
      return nccl::kMinimum;
    case DL_REDUCE_MAXIMUM:
      return nccl::kMaximum;
    case DL_REDUCE_AVERAGE:
      return nccl::kAverage;
    default:
      throw unknown_reduction(reduce);
  }
}

// Calls that only move data treat it as bytes, whatever its dtype.
template <class V>
struct NcclCall : CommunicatorCall<V> {
  Nccl& nccl;

  NcclCall(V& v, void* handle, void* its_stream)
      : CommunicatorCall<V>(v, handle, its_stream), nccl(v.nccl()) {}

  static void group_begin(V& v) { NcclCommunicator::group_begin(v.nccl()); }
  static void group_end(V& v) { NcclCommunicator::group_end(v.nccl()); }
  static ReductionCodes reduction(int32_t dtype, int32_t reduce) {
    return {reduced_type(dtype), reduction_code(reduce)};
  }

  void all_reduce(const void* from, void* to, uint64_t count, const ReductionCodes& codes) const {
    this->run("ncclAllReduce", [&](nccl::Communicator handle) {
      return nccl.all_reduce(from, to, count, codes.type, codes.operation, handle, this->stream);
    });
  }
  void reduce(const void* from, void* to, uint64_t count, const ReductionCodes& codes,
              int32_t root) const {
    this->run("ncclReduce", [&](nccl::Communicator handle) {
      return nccl.reduce(from, to, count, codes.type, codes.operation, root, handle, this->stream);
    });
  }
  void reduce_scatter(const void* from, void* to, uint64_t count,
                      const ReductionCodes& codes) const {
    this->run("ncclReduceScatter", [&](nccl::Communicator handle) {
      return nccl.reduce_scatter(from, to, count, codes.type, codes.operation, handle,
                                 this->stream);
    });
  }
  void broadcast(const void* from, void* to, uint64_t size, int32_t root) const {
    this->run("ncclBroadcast", [&](nccl::Communicator handle) {
      return nccl.broadcast(this->is(root) ? from : to, to, size, nccl::kInt8, root, handle,
                            this->stream);
    });
  }
  void all_gather(const void* from, void* to, uint64_t size) const {
    this->run("ncclAllGather", [&](nccl::Communicator handle) {
      return nccl.all_gather(from, to, size, nccl::kInt8, handle, this->stream);
    });
  }
  void all_to_all(const void* from, void* to, uint64_t size) const {
    together([&] {
      for (int32_t other = 0; other < this->communicator->ranks; ++other) {
        send(part(from, size, other), size, other);
        receive(part(to, size, other), size, other);
      }
    });
  }
  void gather(const void* from, void* to, uint64_t size, int32_t root) const {
    const bool in_place = this->is(root) && part(to, size, root) == from;
    together([&] {
      if (!in_place) send(from, size, root);
      for (int32_t other = 0; this->is(root) && other < this->communicator->ranks; ++other) {
        if (other != root || !in_place) receive(part(to, size, other), size, other);
      }
    });
  }
  void scatter(const void* from, void* to, uint64_t size, int32_t root) const {
    const bool in_place = this->is(root) && part(from, size, root) == to;
    together([&] {
      for (int32_t other = 0; this->is(root) && other < this->communicator->ranks; ++other) {
        if (other != root || !in_place) send(part(from, size, other), size, other);
      }
      if (!in_place) receive(to, size, root);
    });
  }
  void send(const void* from, uint64_t size, int32_t to) const {
    this->run("ncclSend", [&](nccl::Communicator handle) {
      return nccl.send(from, size, nccl::kInt8, to, handle, this->stream);
    });
  }
  void receive(void* to, uint64_t size, int32_t from) const {
    this->run("ncclRecv", [&](nccl::Communicator handle) {
      return nccl.receive(to, size, nccl::kInt8, from, handle, this->stream);
    });
  }

 private:
  // Enqueues a group of messages that wait only for each other.
  template <class Enqueue>
  void together(const Enqueue& enqueue) const {
    NcclCommunicator::group_begin(nccl);
    try {
      enqueue();
    } catch (...) {
      try {
        NcclCommunicator::group_end(nccl);
      } catch (const Error&) {
        // The first failure is more informative.
      }
      throw;
    }
    NcclCommunicator::group_end(nccl);
  }
};

}  // namespace detail

DL_KIT_END

#endif  // DL_KIT_COLLECTIVE_CALL_H_
