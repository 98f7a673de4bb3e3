// The complete table of a vendor whose driver is like the CUDA runtime: cudart, hip, acl. `Api`
// wraps the driver; its members are methods, or symbols (symbols.h), that return a Result:
//
//   using Result, Stream, Event                    Stream and Event are pointers;
//                                                  NULL is the default stream
//   dl_code_t code(Result)                         DL_OK, DL_OUT_OF_MEMORY,
//                                                  DL_NOT_READY (of queries), or
//                                                  DL_UNAVAILABLE if there is no
//                                                  driver or device
//   const char* message(Result)
//   bool present()                                 does not touch the driver; Library has one
//   device_count(int*), get_device(int*), set_device(int), device_synchronize()
//   properties(int, dl_device_properties_t*)
//   malloc(void**, size_t), free(void*), memory_info(size_t* free, size_t* total)
//   malloc_host(void**, size_t), free_host(void*)
//   copy(void*, const void*, size_t, kind, Stream) kinds have CUDA's numbers, 1 to 3
//   set(void*, int, size_t, Stream)
//   stream_create(Stream*, int priority), stream_destroy(Stream), stream_synchronize(Stream),
//   stream_query(Stream), stream_wait_event(Stream, Event)
//   event_create(Event*, bool timing), event_destroy(Event), event_record(Event, Stream),
//   event_synchronize(Event), event_query(Event), event_elapsed(float*, Event, Event)
//
// and, if the driver differs from the defaults:
//
//   static constexpr bool kStagesPageable = true   copies of pageable memory return when the memory
//                                                  may be reused, as CUDA's do; otherwise the kit
//                                                  waits for them
//   void clear_error()                             clears a failure that must not be reported again
//   std::string absence()                          instead of present: why there is no driver or
//                                                  device, with the remedy; empty if there is one
//
// The reason for a missing device goes to the host's log, where `dl doctor` finds it: the text of
// `absence`, the names of the Library that was not found, and the DL_UNAVAILABLE result or
// exception of device_count. Only an exception, from a driver that is installed but unusable, is
// logged as a warning.
//
// A vendor derives from Runtime<Api> and adds kName, kVersion and operators.
#ifndef DL_KIT_RUNTIME_H_
#define DL_KIT_RUNTIME_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include "dl/kit/base.h"
#include "dl/kit/fork.h"
#include "dl/kit/operators.h"
#include "dl/kit/pinned.h"
#include "dl/kit/status.h"
#include "dl/kit/symbols.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

namespace detail {

template <class Api, class = void>
struct Stages : std::false_type {};
template <class Api>
struct Stages<Api, std::void_t<decltype(Api::kStagesPageable)>>
    : std::bool_constant<Api::kStagesPageable> {};

template <class Api, class = void>
struct TellsAbsence : std::false_type {};
template <class Api>
struct TellsAbsence<Api, std::void_t<decltype(&Api::absence)>> : std::true_type {};

template <class Api, class = void>
struct ClearsError : std::false_type {};
template <class Api>
struct ClearsError<Api, std::void_t<decltype(&Api::clear_error)>> : std::true_type {};

// A copy kind that converts to the enumeration of the driver's function.
struct CopyKind {
  int value;
  template <class Kind>
  operator Kind() const {
    return static_cast<Kind>(value);
  }
};

}  // namespace detail

template <class Api>
class Runtime : public Instance, public ForkGuard {
 public:
  using Result = typename Api::Result;
  using Stream = typename Api::Stream;
  using Event = typename Api::Event;
  static_assert(std::is_pointer_v<Stream> && std::is_pointer_v<Event>,
                "streams and events of the driver are pointers");

  Api& api() { return api_; }

  // The stream on which an operator enqueues its work; NULL is the default stream of the current
  // device, which is the context's device.
  static Stream stream_of(diopiContextHandle_t ctx) {
    return static_cast<Stream>(dl_context_stream(ctx));
  }

  // Throws Error if the driver's call failed. `operation` is a literal.
  void check(Result result, const char* operation) {
    const dl_code_t code = api_.code(result);
    if (code != DL_OK) fail(code, result, operation);
  }

  void make_current(int32_t device) {
    int now = -1;
    // Queried each time: other code on this thread may have set another device.
    if (api_.code(api_.get_device(&now)) == DL_OK && now == device) return;
    check(api_.set_device(device), "set_device");
  }

  bool present() {
    if constexpr (detail::TellsAbsence<Api>::value) {
      const std::string reason = api_.absence();
      if (!reason.empty()) log(DL_LOG_INFO, reason);
      return reason.empty();
    } else {
      const bool found = api_.present();
      if constexpr (std::is_base_of_v<Library, Api>) {
        const Library& library = api_;
        if (!found && !library.present()) log(DL_LOG_INFO, library.why_missing());
      }
      return found;
    }
  }

  int32_t device_count() {
    const int32_t known = count_.load(std::memory_order_relaxed);
    if (known >= 0) return known;
    const int32_t found = count_devices();
    count_.store(found, std::memory_order_relaxed);
    return found;
  }

  dl_device_properties_t device_properties(int32_t device) {
    dl_device_properties_t all{};
    check(api_.properties(device, &all), "properties");
    return all;
  }
  void device_synchronize(int32_t) { check(api_.device_synchronize(), "device_synchronize"); }

  // Rounded up to whole 32-bit words: kernels update smaller elements through the word that
  // contains them.
  void* memory_allocate(int32_t, uint64_t bytes) {
    constexpr uint64_t kWord = 4;
    void* memory = nullptr;
    check(api_.malloc(&memory, (bytes + kWord - 1) / kWord * kWord), "malloc");
    return memory;
  }
  void memory_free(int32_t, void* memory) { check(api_.free(memory), "free"); }
  MemoryInfo memory_info(int32_t) {
    size_t free_bytes = 0, total = 0;
    check(api_.memory_info(&free_bytes, &total), "memory_info");
    return {free_bytes, total};
  }

  void* host_allocate(uint64_t bytes) {
    void* memory = nullptr;
    check(api_.malloc_host(&memory, bytes), "malloc_host");
    pinned_.add(memory, bytes);
    return memory;
  }
  void host_free(void* memory) {
    pinned_.remove(memory);
    check(api_.free_host(memory), "free_host");
  }

  void memory_copy(int32_t, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream) {
    if (bytes == 0) return;
    if (kind < DL_COPY_HOST_TO_DEVICE || kind > DL_COPY_DEVICE_TO_DEVICE)
      throw Error(DL_INVALID_ARGUMENT,
                  "copy kind " + std::to_string(kind) + " is not a dl_copy_kind_t");
    check(api_.copy(to, from, bytes, detail::CopyKind{kind + 1}, static_cast<Stream>(stream)),
          "copy");
    if (detail::Stages<Api>::value || kind == DL_COPY_DEVICE_TO_DEVICE) return;
    const void* host_side = kind == DL_COPY_HOST_TO_DEVICE ? from : to;
    if (!pinned_.holds(host_side, bytes)) stream_synchronize(0, stream);
  }
  void memory_set(int32_t, void* memory, int32_t value, uint64_t bytes, void* stream) {
    if (bytes != 0) check(api_.set(memory, value, bytes, static_cast<Stream>(stream)), "set");
  }

  void* stream_create(int32_t, int32_t priority) {
    Stream stream{};
    check(api_.stream_create(&stream, priority), "stream_create");
    return stream;
  }
  void stream_destroy(int32_t, void* stream) {
    check(api_.stream_destroy(static_cast<Stream>(stream)), "stream_destroy");
  }
  void stream_synchronize(int32_t, void* stream) {
    check(api_.stream_synchronize(static_cast<Stream>(stream)), "stream_synchronize");
  }
  bool stream_query(int32_t, void* stream) {
    return is_ready(api_.stream_query(static_cast<Stream>(stream)), "stream_query");
  }
  void stream_wait_event(int32_t, void* stream, void* event) {
    check(api_.stream_wait_event(static_cast<Stream>(stream), static_cast<Event>(event)),
          "stream_wait_event");
  }

  void* event_create(int32_t, uint64_t flags) {
    Event event{};
    check(api_.event_create(&event, (flags & DL_EVENT_TIMING) != 0), "event_create");
    return event;
  }
  void event_destroy(int32_t, void* event) {
    check(api_.event_destroy(static_cast<Event>(event)), "event_destroy");
  }
  void event_record(int32_t, void* event, void* stream) {
    check(api_.event_record(static_cast<Event>(event), static_cast<Stream>(stream)),
          "event_record");
  }
  void event_synchronize(int32_t, void* event) {
    check(api_.event_synchronize(static_cast<Event>(event)), "event_synchronize");
  }
  bool event_query(int32_t, void* event) {
    return is_ready(api_.event_query(static_cast<Event>(event)), "event_query");
  }
  double event_elapsed(int32_t, void* start, void* end) {
    float milliseconds = 0;
    check(api_.event_elapsed(&milliseconds, static_cast<Event>(start), static_cast<Event>(end)),
          "event_elapsed");
    return static_cast<double>(milliseconds);
  }

 protected:
  // Returns true if host_allocate allocated all of this memory.
  bool is_pinned(const void* memory, uint64_t bytes) { return pinned_.holds(memory, bytes); }

 private:
  // A missing driver or device means zero devices, not an error.
  int32_t count_devices() {
    int count = 0;
    Result result;
    try {
      result = api_.device_count(&count);
    } catch (const Error& error) {
      if (error.code() != DL_UNAVAILABLE) throw;
      log(DL_LOG_WARNING, std::string("no device: ") + error.what());
      return 0;
    }
    const dl_code_t code = api_.code(result);
    if (code == DL_OK) return count;
    if (code != DL_UNAVAILABLE) fail(code, result, "device_count");
    const char* text = api_.message(result);
    log(DL_LOG_INFO, std::string("no device: ") + (text == nullptr ? "" : text));
    return 0;
  }

  void log(int32_t level, const std::string& message) const {
    if (host == nullptr || !DL_HAS_FIELD(host, dl_host_t, log) || host->log == nullptr) return;
    host->log(host, level, message.c_str());
  }

  bool is_ready(Result result, const char* operation) {
    if (api_.code(result) == DL_NOT_READY) return false;
    check(result, operation);
    return true;
  }

  [[noreturn, gnu::cold]] void fail(dl_code_t code, Result result, const char* operation) {
    const char* text = api_.message(result);
    const std::string message = text == nullptr ? "the driver gives no reason" : text;
    if constexpr (detail::ClearsError<Api>::value) api_.clear_error();
    throw Error(code, message, operation);
  }

  Api api_;
  std::atomic<int32_t> count_{-1};
  PinnedBlocks pinned_;
};

DL_KIT_END

#endif  // DL_KIT_RUNTIME_H_
