// One call of a communicator, and the mapping from the contract's constants to NCCL's; part of
// communicator.h.
#ifndef DL_KIT_COLLECTIVE_CALL_H_
#define DL_KIT_COLLECTIVE_CALL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "dl/communicator.h"
#include "dl/dtype.h"
#include "dl/kit/base.h"
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
      throw Error(DL_NOT_SUPPORTED, "dtype " + std::to_string(dtype) +
                                        " cannot be reduced; cast to float32 or int64 first");
  }
}

inline int reduction(int32_t reduce) {
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
      throw Error(DL_NOT_SUPPORTED, "operation " + std::to_string(reduce) +
                                        " is not a dl_reduce_t that this vendor supports");
  }
}

// One call of a communicator. Calls that only move data treat it as bytes, whatever its dtype.
template <class V>
struct CollectiveCall {
  V& vendor;
  Nccl& nccl;
  std::shared_ptr<NcclCommunicator> communicator;
  void* stream;

  CollectiveCall(V& v, void* handle, void* its_stream)
      : vendor(v),
        nccl(v.nccl()),
        communicator(v.communicators().find(handle)),
        stream(its_stream) {
    // The arguments of these slots do not include a device.
    vendor.make_current(communicator->device);
  }

  void check_rank(const char* what, int32_t rank) const {
    if (rank < 0 || rank >= communicator->ranks)
      throw Error(DL_INVALID_ARGUMENT, std::string(what) + " " + std::to_string(rank) +
                                           " is not one of the " +
                                           std::to_string(communicator->ranks) + " ranks");
  }
  bool is(int32_t rank) const { return communicator->rank == rank; }

  // Bytes of one rank's part.
  uint64_t bytes(uint64_t count, int32_t dtype) const {
    const auto each = static_cast<uint64_t>(dl_dtype_bytes(dtype));
    if (each == 0)
      throw Error(DL_INVALID_ARGUMENT, "dtype " + std::to_string(dtype) + " is not a diopiDtype_t");
    uint64_t all = 0;
    if (__builtin_mul_overflow(count, each * static_cast<uint64_t>(communicator->ranks), &all))
      throw Error(DL_INVALID_ARGUMENT, std::to_string(count) + " elements are too many");
    return count * each;
  }

  template <class Enqueue>
  void run(const char* operation, const Enqueue& enqueue) const {
    communicator->call(operation, enqueue);
  }

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
  void send(const void* from, uint64_t size, int32_t to) const {
    run("ncclSend", [&](nccl::Communicator handle) {
      return nccl.send(from, size, nccl::kInt8, to, handle, stream);
    });
  }
  void receive(void* to, uint64_t size, int32_t from) const {
    run("ncclRecv", [&](nccl::Communicator handle) {
      return nccl.receive(to, size, nccl::kInt8, from, handle, stream);
    });
  }
};

inline const char* part(const void* of, uint64_t bytes, int32_t index) {
  return static_cast<const char*>(of) + bytes * static_cast<uint64_t>(index);
}
inline char* part(void* of, uint64_t bytes, int32_t index) {
  return static_cast<char*>(of) + bytes * static_cast<uint64_t>(index);
}

}  // namespace detail

DL_KIT_END

#endif  // DL_KIT_COLLECTIVE_CALL_H_
