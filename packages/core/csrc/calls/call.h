// One native call: the context in which an operator runs, its status, its statistics.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "calls/call_counts.h"
#include "calls/vendor_error.h"
#include "contract/handle.h"
#include "diopi/functions.h"
#include "diopi/functions_dl.h"
#include "diopi/functions_ext.h"
#include "dl/handles.h"
#include "runtime/device.h"
#include "runtime/legacy.h"
#include "runtime/stream.h"

namespace dl::core {

// A wrapper's name, the contract operators that it may call, and its counters. Static; listed for
// reports.
struct Site {
  Site(const char* overload, std::initializer_list<const char*> forms,
       std::initializer_list<Op> ops);

  const char* overload;            // "add.Tensor"
  std::vector<const char*> forms;  // all overloads of the wrapper: "add.out", "add_.Tensor"
  std::vector<Op> operators;
  std::atomic<bool> disabled{false};  // DL_FORCE_FALLBACK
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> nanoseconds{0};
};

const std::vector<Site*>& sites();

// Bits that select what is recorded for each call. Default: nothing, because two clock reads per
// call are expensive.
enum Noted : uint8_t {
  kNotedTimes = 1,  // counts and times by operator
  kNotedTrace = 2,  // each native call, for the profiler
};
extern std::atomic<uint8_t> noted;
inline bool is_timed() { return (noted.load(std::memory_order_relaxed) & kNotedTimes) != 0; }

// Callbacks for each native call while kNotedTrace is set.
struct CallTrace {
  void (*begin)(int device);
  // `contract_name` and `site` are static; times are nanoseconds of now_ns().
  void (*end)(int device, const char* contract_name, const Site& site, uint64_t start,
              uint64_t end);
};
// Never freed. Calls that are active when the bit above is cleared may still invoke it.
void set_call_trace(const CallTrace* trace);

inline uint64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Tensors that an operator has allocated with diopiRequire*. Device memory is reused in stream
// order, host memory after the stream has completed the call.
struct RequiredTensor {
  at::Tensor tensor;
  OutputHandle handle;
  explicit RequiredTensor(at::Tensor made) : tensor(std::move(made)), handle(tensor) {}
};

// The contract's specification of an output that the vendor allocates.
struct ExpectedOutput {
  const char* contract_name = "an operator";
  c10::ScalarType type = c10::ScalarType::Undefined;  // Undefined: any
  int64_t dimensions = -1;                            // -1: any
};

class CallContext {
 public:
  explicit CallContext(int index) : index_(index) {
    const Device& owner = device_unchecked(index);
    prefix_ = {DL_CONTEXT_MAGIC, DL_PREFIX_VERSION,
               &handle_ops(),    current_native_stream(index),
               owner.local,      0,
               host_table(),     owner.vendor->instance()};
  }
  ~CallContext() {
    if (C10_UNLIKELY(left_over_)) finish();
    // Invalidates handles stored by the operator. Volatile, because the compiler knows that the
    // lifetime ends here.
    static_cast<volatile dl_context_prefix_t&>(prefix_).magic = 0;
  }
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  diopiContextHandle_t get() { return reinterpret_cast<diopiContextHandle_t>(&prefix_); }
  int device_index() const { return index_; }
  static CallContext& of(diopiContextHandle_t handle) {
    return *reinterpret_cast<CallContext*>(handle);
  }

  diopiTensorHandle_t require(at::Tensor tensor);
  // Where the operator reports wrong data, such as an index out of range, asynchronously; NULL: it
  // reports it before it returns.
  dl_device_error_t* error_word();
  // Returns the tensor of a handle from require(). Throws VendorError for other handles, or if the
  // tensor differs from `expected`.
  at::Tensor take(diopiTensorHandle_t handle, const ExpectedOutput& expected = {}) const;
  // Stores the reason of a failed allocation, because an operator can only return an error code.
  void remember(std::exception_ptr failure) { failure_ = std::move(failure); }
  void rethrow_failure(const char* contract_name) const;

 private:
  void finish() noexcept;
  static const dl_host_t* host_table();

  dl_context_prefix_t prefix_;  // must be first: the handle points here
  int index_;
  std::vector<std::unique_ptr<RequiredTensor>> required_;
  std::exception_ptr failure_;
  bool left_over_ = false;  // clean-up is needed after the call
  bool may_leave_error_ = false;
};

// Throws VendorError for a failed operator. Returns if the vendor declined, and the caller should
// fall back; the decline is noted for the fallback.
void check_outcome(diopiError_t code, const char* contract_name, const Site& site, int index);

// Throws VendorError for an exception that escaped from an operator and is being handled.
[[noreturn]] void operator_threw(const char* contract_name, int index);

class NativeCall {
 public:
  NativeCall(Site& site, int index) : site_(site), context_(index) {
    if (C10_UNLIKELY(noted.load(std::memory_order_relaxed) != 0)) begin_note();
  }

  CallContext& context() { return context_; }

  // Returns true if the operator ran, and false if the vendor declined and has written nothing.
  template <typename F, typename... Args>
  bool run(const char* contract_name, F function, Args... args) {
    const LegacyContextScope scope(context_.get());
    device_unchecked(context_.device_index()).make_current();
    diopiError_t code;
    try {
      code = function(context_.get(), args...);
    } catch (...) {
      operator_threw(contract_name, context_.device_index());
    }
    if (C10_UNLIKELY(code != diopiSuccess)) {
      context_.rethrow_failure(contract_name);
      check_outcome(code, contract_name, site_, context_.device_index());
      return false;
    }
    count_call(&ThreadCounts::native);
    if (C10_UNLIKELY(start_ != 0)) end_note(contract_name);
    return true;
  }

 private:
  void begin_note();
  void end_note(const char* contract_name);

  Site& site_;
  CallContext context_;
  uint64_t start_ = 0;
};

// The vendor's function of a contract operator, or NULL.
#define DL_CONTRACT_FUNCTION(device, name) \
  reinterpret_cast<decltype(&::name)>((device).function(::dl::core::Op::name))

}  // namespace dl::core
