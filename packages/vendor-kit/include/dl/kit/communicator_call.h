// One call of a communicator, for any library of collectives; part of communicator_slots.h.
#ifndef DL_KIT_COMMUNICATOR_CALL_H_
#define DL_KIT_COMMUNICATOR_CALL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "dl/communicator.h"
#include "dl/dtype.h"
#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// Mixin that holds the communicators of an instance.
template <class Base, class C>
class HoldingCommunicators : public Base {
 public:
  using Communicator = C;
  Handles<C>& communicators() { return communicators_; }

 private:
  Handles<C> communicators_{"communicator"};
};

namespace detail {

// The library's constants for a reduction.
struct ReductionCodes {
  int type, operation;
};

inline Error unreduced_dtype(int32_t dtype) {
  return {DL_NOT_SUPPORTED,
          "dtype " + std::to_string(dtype) + " cannot be reduced; cast to float32 or int64 first"};
}
inline Error unknown_reduction(int32_t reduce) {
  return {DL_NOT_SUPPORTED, "operation " + std::to_string(reduce) +
                                " is not a dl_reduce_t that this vendor supports"};
}

// The communicator of a call and checks of its arguments.
template <class V>
struct CommunicatorCall {
  V& vendor;
  std::shared_ptr<typename V::Communicator> communicator;
  void* stream;

  CommunicatorCall(V& v, void* handle, void* its_stream)
      : vendor(v), communicator(v.communicators().find(handle)), stream(its_stream) {
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
};

inline const char* part(const void* of, uint64_t bytes, int32_t index) {
  return static_cast<const char*>(of) + bytes * static_cast<uint64_t>(index);
}
inline char* part(void* of, uint64_t bytes, int32_t index) {
  return static_cast<char*>(of) + bytes * static_cast<uint64_t>(index);
}

}  // namespace detail

DL_KIT_END

#endif  // DL_KIT_COMMUNICATOR_CALL_H_
