// Functions of an operator library: the documented facts about their arguments, and typed calls.
#ifndef DL_KIT_LIBRARY_FUNCTIONS_H_
#define DL_KIT_LIBRARY_FUNCTIONS_H_

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "dl/kit/base.h"
#include "dl/kit/library/values.h"

DL_KIT_BEGIN

namespace library {

// The integers that fit a C type.
struct IntegerRange {
  int64_t smallest = std::numeric_limits<int64_t>::min();
  int64_t largest = std::numeric_limits<int64_t>::max();
};

template <class T>
constexpr IntegerRange range_of() {
  if constexpr (std::is_enum_v<T>) {
    return range_of<std::underlying_type_t<T>>();
  } else {
    IntegerRange range;
    if constexpr (std::is_unsigned_v<T> || sizeof(T) < sizeof(int64_t))
      range.smallest = static_cast<int64_t>(std::numeric_limits<T>::min());
    if constexpr (sizeof(T) < sizeof(int64_t))
      range.largest = static_cast<int64_t>(std::numeric_limits<T>::max());
    return range;
  }
}

// Use of an argument by a function, and the documented values. `dtypes` has bit n for
// diopiDtype_t n; 0 and `max_ndim` -1: undocumented.
struct ArgumentFacts {
  const char* name;
  bool reads, writes, strided;
  uint32_t dtypes;
  int8_t min_ndim, max_ndim;
  // Filled from the call, not by an expression. kDescriptor, kDescriptors: of the tensor or list
  // that follows; kOnlyDescriptor, kOnlyDescriptors: an expression gives a tensor or list, of which
  // only the descriptors are passed.
  enum Automatic : uint8_t {
    kNo,
    kStream,
    kHandle,
    kWorkspace,
    kWorkspaceSize,
    kDescriptor,
    kWorkspaceResult,
    kOnlyDescriptor,
    kDescriptors,
    kOnlyDescriptors
  };
  Automatic automatic;
  IntegerRange range = {};  // of an integer

  // Returns true if no expression gives this argument.
  bool is_filled() const {
    return automatic != kNo && automatic != kOnlyDescriptor && automatic != kOnlyDescriptors;
  }
};

// The value that is passed for one argument.
union Slot {
  void* pointer;
  int64_t integer;
  double number;
};

template <class T>
T from_slot(const Slot& slot) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(const_cast<std::remove_const_t<std::remove_pointer_t<T>>*>(
        static_cast<const std::remove_pointer_t<T>*>(slot.pointer)));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(slot.number);
  else
    return static_cast<T>(slot.integer);
}

// Calls through the function's true type: `address` is the library's function.
using Begin = int (*)(void* address, const Slot* slots, uint64_t* bytes, void** executor);
using Execute = int (*)(void* address, void* workspace, uint64_t bytes, void* executor,
                        void* stream);
using Direct = int (*)(void* address, const Slot* slots);

template <class Executor, class Status, class... Args>
struct TwoPhaseCall {
  static int begin(void* address, const Slot* slots, uint64_t* bytes, void** executor) {
    return call(address, slots, bytes, executor, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... I>
  static int call(void* address, [[maybe_unused]] const Slot* slots, uint64_t* bytes,
                  void** executor, std::index_sequence<I...>) {
    Executor* made = nullptr;
    const Status status = reinterpret_cast<Status (*)(Args..., uint64_t*, Executor**)>(address)(
        from_slot<Args>(slots[I])..., bytes, &made);
    *executor = made;
    return static_cast<int>(status);
  }
};
template <class Status, class Executor, class Stream>
int execute_call(void* address, void* workspace, uint64_t bytes, void* executor, void* stream) {
  return static_cast<int>(reinterpret_cast<Status (*)(void*, uint64_t, Executor*, Stream)>(address)(
      workspace, bytes, static_cast<Executor*>(executor), static_cast<Stream>(stream)));
}
template <class Status, class... Args>
struct DirectCall {
  static int call(void* address, const Slot* slots) {
    return call(address, slots, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... I>
  static int call(void* address, [[maybe_unused]] const Slot* slots, std::index_sequence<I...>) {
    return static_cast<int>(
        reinterpret_cast<Status (*)(Args...)>(address)(from_slot<Args>(slots[I])...));
  }
};

// Returns true if a header declares a function as the signature table describes it. A function
// that promises not to throw is called in the same way.
template <class Declared, class Described>
constexpr bool same_function = std::is_same_v<Declared, Described>;
template <class Status, class... Args>
constexpr bool same_function<Status (*)(Args...) noexcept, Status (*)(Args...)> = true;

struct Function {
  int index;               // position in the library's table
  const char* name;        // the function, or its second phase
  const char* begin_name;  // the first phase, which returns the workspace's size; else NULL
  const ArgumentFacts* arguments;
  int count;
  Begin begin;
  Direct direct;
  // The function that returns the size of the workspace, or NULL. Its arguments are arguments of
  // this function, at these positions.
  const Function* sizing = nullptr;
  const int8_t* sizing_arguments = nullptr;
};

// Facts about a library that the generated code defines.
struct LibraryFacts {
  const char* name;
  const int* dtypes;             // the library's number of each diopiDtype_t; -1: none
  int formats[kMaxDims + 1];     // by number of dimensions
  const Function* copy;          // (to, from), between any strides; NULL: none
  const char* const* libraries;  // names of the shared libraries; `*` matches any text
  int library_count;
  int function_count;
  Execute execute;  // the second phase
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_FUNCTIONS_H_
