// Functions that take a handle of the library, and each tensor as a descriptor and a pointer to its
// elements, and that may need a workspace whose size another function returns.
//
// `Objects` makes the library's own objects:
//
//   static constexpr const char* kName             for messages
//   bool supports(const Function&)                 false: as if the library did not have it
//   void* create_handle()                          for the current device; NULL on failure
//   int bind(void* handle, void* stream)           later calls enqueue on this stream
//   void* create_descriptor(const View&, int dtype, int format), destroy_descriptor(void*)
//   const void* scalar(const diopiScalar_t&, ScalarMemory&)      what functions take for a number
//   bool declines(int status), dl_code_t code(int status), std::string message(int status)
//
// Handles exist per thread and device. They are never destroyed, because destroying one waits for
// its device, which may be gone when the process exits. Descriptors are cached by layout.
#ifndef DL_KIT_LIBRARY_HANDLE_DESCRIPTORS_H_
#define DL_KIT_LIBRARY_HANDLE_DESCRIPTORS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/layout.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/per_thread.h"
#include "dl/kit/library/symbols.h"
#include "dl/kit/lru.h"
#include "dl/kit/workspace.h"

DL_KIT_BEGIN

namespace library {

// Room for a number of any dtype.
struct ScalarMemory {
  alignas(16) unsigned char bytes[16] = {};
};

template <class Objects>
class HandleDescriptorsBackend : public Backend {
 public:
  HandleDescriptorsBackend(const LibraryFacts& facts, LibrarySet& libraries, Objects& objects,
                           size_t capacity = 1024)
      : facts_(facts),
        objects_(objects),
        addresses_(libraries, facts.function_count),
        descriptors_(capacity) {}

  // A descriptor, destroyed when the cache and all calls have dropped it.
  class Descriptor {
   public:
    Descriptor(Objects& objects, void* made) : objects_(&objects), made_(made) {}
    Descriptor(Descriptor&& other) noexcept
        : objects_(other.objects_), made_(std::exchange(other.made_, nullptr)) {}
    ~Descriptor() {
      if (made_ != nullptr) objects_->destroy_descriptor(made_);
    }
    void* get() const { return made_; }

   private:
    Objects* objects_;
    void* made_;
  };

  const LibraryFacts& facts() const override { return facts_; }
  bool has(const Function& function) override {
    return usable(function) && (function.sizing == nullptr || usable(*function.sizing));
  }
  size_t cached() const override { return descriptors_.size(); }
  uint64_t created() const override { return descriptors_.made(); }

  void run(Call& call, const Function& function, const std::vector<Argument>& arguments) override {
    const Function* const sizing = function.sizing;
    if (sizing == nullptr) return invoke(call, function, arguments, 0, nullptr);
    std::vector<Argument> taken;
    for (int i = 0; i < sizing->count; ++i) {
      if (sizing->arguments[i].is_filled()) continue;
      const int8_t from = function.sizing_arguments[taken.size()];
      taken.push_back(arguments[static_cast<size_t>(from)]);
    }
    run_sized(call, function, arguments, *sizing, taken);
  }
  void run_sized(Call& call, const Function& function, const std::vector<Argument>& arguments,
                 const Function& sizing, const std::vector<Argument>& sizing_arguments) override {
    size_t bytes = 0;
    invoke(call, sizing, sizing_arguments, 0, &bytes);
    invoke(call, function, arguments, bytes, nullptr);
  }
  void run_with_workspace(Call& call, const Function& function,
                          const std::vector<Argument>& arguments, int64_t bytes) override {
    invoke(call, function, arguments, static_cast<size_t>(bytes), nullptr);
  }

  // The library's handle of the calling thread, bound to the stream of the call.
  void* handle(Call& call) {
    void*& found = handles_.get(call.device(), [] { return nullptr; });
    if (found == nullptr) found = objects_.create_handle();
    const int status = found == nullptr ? -1 : objects_.bind(found, call.stream());
    if (status != 0)
      throw Error(DL_UNAVAILABLE,
                  std::string(Objects::kName) +
                      " gives no handle for this device: " + objects_.message(status));
    return found;
  }

  // The descriptor of a tensor, for functions that the vendor calls itself.
  std::shared_ptr<const Descriptor> descriptor_of(const View& view) {
    Layout key;
    key.append(view.dtype).append(format(view)).append(view.ndim);
    for (int32_t d = 0; d < view.ndim; ++d) key.append(view.sizes[d]).append(view.strides[d]);
    return descriptors_.get(key, [&] {
      void* const made = objects_.create_descriptor(view, dtype(view.dtype), format(view));
      if (made == nullptr)
        throw Error(DL_ERROR, std::string(Objects::kName) + " cannot create a tensor descriptor");
      return Descriptor(objects_, made);
    });
  }

 private:
  using Held = std::vector<std::shared_ptr<const Descriptor>>;

  // `result`: where a function that returns the size of a workspace writes it.
  void invoke(Call& call, const Function& function, const std::vector<Argument>& arguments,
              size_t bytes, size_t* result) {
    Held held;
    std::deque<ScalarMemory> numbers;
    std::deque<std::vector<void*>> lists;
    std::vector<Slot> slots(static_cast<size_t>(function.count));
    size_t position = 0;
    for (int i = 0; i < function.count; ++i) {
      Slot& slot = slots[static_cast<size_t>(i)];
      slot.pointer = nullptr;
      switch (function.arguments[i].automatic) {
        case ArgumentFacts::kStream:
          slot.pointer = call.stream();
          break;
        case ArgumentFacts::kHandle:
          slot.pointer = handle(call);
          break;
        case ArgumentFacts::kWorkspace:
          slot.pointer = workspace(call.context(), bytes);
          break;
        case ArgumentFacts::kWorkspaceSize:
          slot.integer = static_cast<int64_t>(bytes);
          break;
        case ArgumentFacts::kWorkspaceResult:
          slot.pointer = result;
          break;
        case ArgumentFacts::kDescriptor:
          slot.pointer = descriptor(arguments[position], held);
          break;
        case ArgumentFacts::kOnlyDescriptor:
          slot.pointer = descriptor(arguments[position++], held);
          break;
        case ArgumentFacts::kDescriptors:
          slot.pointer = descriptors(arguments[position], held, lists);
          break;
        case ArgumentFacts::kOnlyDescriptors:
          slot.pointer = descriptors(arguments[position++], held, lists);
          break;
        case ArgumentFacts::kNo:
          fill(arguments[position++], slot, numbers, lists);
      }
    }
    const int status = function.direct(addresses_.address(function), slots.data());
    if (status == 0) return;
    throw Error(
        objects_.declines(status) ? DL_NOT_SUPPORTED : objects_.code(status),
        std::string(call.name()) + ": " + function.name + " failed: " + objects_.message(status),
        function.name);
  }

  void fill(const Argument& argument, Slot& slot, std::deque<ScalarMemory>& numbers,
            std::deque<std::vector<void*>>& lists) {
    if (const View* view = argument.view()) {
      slot.pointer = view->data();
    } else if (const Views* views = std::get_if<Views>(&argument.value)) {
      lists.emplace_back();
      for (const View& each : *views)
        lists.back().push_back(each.is_present ? each.data() : nullptr);
      slot.pointer = lists.back().data();
    } else if (const Scalar* scalar = std::get_if<Scalar>(&argument.value)) {
      numbers.emplace_back();
      slot.pointer = const_cast<void*>(objects_.scalar(scalar->value, numbers.back()));
    } else if (const Ints* ints = std::get_if<Ints>(&argument.value)) {
      slot.pointer = const_cast<int64_t*>(ints->data());
    } else {
      fill_value(*this, argument, slot);
    }
  }

  void* descriptor(const Argument& argument, Held& held) {
    const View* const view = argument.view();
    return view == nullptr ? nullptr : descriptor(*view, held);
  }

  void* descriptors(const Argument& argument, Held& held, std::deque<std::vector<void*>>& lists) {
    const Views* const views = std::get_if<Views>(&argument.value);
    if (views == nullptr) return nullptr;
    lists.emplace_back();
    for (const View& each : *views)
      lists.back().push_back(each.is_present ? descriptor(each, held) : nullptr);
    return lists.back().data();
  }

  void* descriptor(const View& view, Held& held) {
    held.push_back(descriptor_of(view));
    return held.back()->get();
  }

  bool usable(const Function& function) {
    return objects_.supports(function) && addresses_.has(function);
  }

  const LibraryFacts& facts_;
  Objects& objects_;
  FunctionAddresses addresses_;
  Lru<Layout, Descriptor, LayoutHash> descriptors_;
  PerThread<void*> handles_;
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_HANDLE_DESCRIPTORS_H_
