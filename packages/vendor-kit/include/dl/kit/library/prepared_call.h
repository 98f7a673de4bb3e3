// A call that a library with two phases has accepted: its executor, and the objects that the
// executor refers to. `Objects` is described in two_phase.h.
#ifndef DL_KIT_LIBRARY_PREPARED_CALL_H_
#define DL_KIT_LIBRARY_PREPARED_CALL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/call_key.h"
#include "dl/kit/library/scalars.h"

DL_KIT_BEGIN

namespace library {

template <class Objects>
class PreparedCall {
 public:
  // Runs the first phase, whose function is `begin`. Throws Error; its code is DL_NOT_SUPPORTED if
  // the library does not support the arguments.
  PreparedCall(Objects& objects, void* begin, const Call& call, const Function& function,
               const std::vector<Argument>& arguments)
      : PreparedCall(objects) {
    std::vector<Slot> slots(arguments.size());
    made_.resize(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      fill(call.backend(), arguments[i], slots[i], made_[i], function.arguments[i].name);
    const int status = function.begin(begin, slots.data(), &bytes_, &executor_);
    if (status == 0) return;
    executor_ = nullptr;
    throw Error(objects.declines(status) ? DL_NOT_SUPPORTED : objects.code(status),
                std::string(call.name()) + ": " + function.name +
                    " refuses the arguments: " + objects.message(status),
                function.begin_name);
  }
  PreparedCall(PreparedCall&& other) noexcept
      : objects_(other.objects_),
        executor_(std::exchange(other.executor_, nullptr)),
        bytes_(other.bytes_),
        made_(std::move(other.made_)) {
    other.made_.clear();
  }
  PreparedCall& operator=(PreparedCall&&) = delete;
  ~PreparedCall() {
    if (executor_ != nullptr) objects_->destroy_executor(executor_);
    for (const Object& each : made_) destroy(each);
  }

  // Size of the workspace.
  uint64_t bytes() const { return bytes_; }
  void* executor() const { return executor_; }
  // The executor, for a second phase that destroys it.
  void* release_executor() { return std::exchange(executor_, nullptr); }
  // Returns true if the executor can run again from now on.
  bool make_repeatable() { return objects_->make_repeatable(executor_); }

  // Gives the executor the addresses of another call. The same tensor objects are passed, because
  // the executor refers to them.
  bool rebind(const Function& function, const std::vector<Argument>& arguments) const {
    uint64_t inputs = 0, outputs = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const View* view = arguments[i].view();
      if (view == nullptr) continue;
      const ArgumentFacts& facts = function.arguments[i];
      void* const tensor = made_[i].object;
      if (facts.reads && !objects_->set_input(executor_, inputs++, tensor, view->storage))
        return false;
      if (facts.writes && !objects_->set_output(executor_, outputs++, tensor, view->storage))
        return false;
    }
    return true;
  }

  // The sizes that the function has set, for each argument; empty for other values than tensors.
  std::vector<Ints> shapes() const {
    std::vector<Ints> found(made_.size());
    for (size_t i = 0; i < made_.size(); ++i) {
      if (made_[i].kind == kTensor) objects_->read_shape(made_[i].object, &found[i]);
    }
    return found;
  }

 private:
  enum Kind { kNone, kTensor, kScalar, kInts, kBools, kDoubles, kList };
  struct Object {
    Kind kind = kNone;
    void* object = nullptr;
  };

  explicit PreparedCall(Objects& objects) : objects_(&objects) {}

  void destroy(const Object& each) const {
    if (each.object == nullptr) return;
    switch (each.kind) {
      case kTensor:
        return objects_->destroy_tensor(each.object);
      case kScalar:
        return objects_->destroy_scalar(each.object);
      case kInts:
        return objects_->destroy_ints(each.object);
      case kBools:
        return objects_->destroy_bools(each.object);
      case kDoubles:
        return objects_->destroy_doubles(each.object);
      case kList:
        return objects_->destroy_list(each.object);
      case kNone:
        return;
    }
  }

  void fill(const Backend& backend, const Argument& argument, Slot& slot, Object& object,
            const char* name) {
    if (const View* view = argument.view()) {
      object = {kTensor, create(backend, *view)};
    } else if (const Views* views = std::get_if<Views>(&argument.value)) {
      object = {kList, create(backend, *views)};
    } else if (const Scalar* scalar = std::get_if<Scalar>(&argument.value)) {
      const ScalarBytes bytes(scalar->value, backend.facts());
      object = {kScalar, objects_->create_scalar(bytes.data(), backend.dtype(bytes.dtype()))};
    } else if (const Ints* ints = std::get_if<Ints>(&argument.value)) {
      object = {kInts, objects_->create_ints(ints->data(), ints->size())};
    } else if (const Bools* bools = std::get_if<Bools>(&argument.value)) {
      object = {kBools, objects_->create_bools(reinterpret_cast<const bool*>(bools->values.data()),
                                               bools->size())};
    } else if (const Doubles* doubles = std::get_if<Doubles>(&argument.value)) {
      object = {kDoubles, objects_->create_doubles(doubles->data(), doubles->size())};
    } else {
      return fill_value(backend, argument, slot);
    }
    if (object.object == nullptr)
      throw Error(DL_ERROR, std::string(Objects::kName) + " cannot create the object for " + name +
                                ": " + objects_->message(0));
    slot.pointer = object.object;
  }

  void* create(const Backend& backend, const View& view) {
    return objects_->create_tensor(view.sizes, view.ndim, backend.dtype(view.dtype), view.strides,
                                   view.offset, backend.format(view), storage_elements(view),
                                   view.storage);
  }
  void* create(const Backend& backend, const Views& views) {
    std::vector<void*> tensors;
    void* list = nullptr;
    try {
      for (const View& view : views) {
        void* const tensor = create(backend, view);
        if (tensor == nullptr) break;
        tensors.push_back(tensor);
      }
      if (tensors.size() == views.size())
        list = objects_->create_list(tensors.data(), tensors.size());
    } catch (...) {
      for (void* tensor : tensors) objects_->destroy_tensor(tensor);
      throw;
    }
    if (list == nullptr) {
      for (void* tensor : tensors) objects_->destroy_tensor(tensor);
    }
    return list;
  }

  Objects* objects_;
  void* executor_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<Object> made_;  // one for each argument
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_PREPARED_CALL_H_
