// Functions that are called once, with structs or pointers for their tensors.
//
// `Objects` makes the library's own values:
//
//   static constexpr const char* kName             for messages
//   struct Tensor, Scalar                          what the functions take by pointer
//   Tensor tensor(const View&, int dtype, int format), Scalar scalar(const diopiScalar_t&, int
//   dtype) struct Ints, Ints ints(const int64_t*, uint64_t) void* handle(Call&) of the calling
//   thread and device, bound to the
//                                                  stream; NULL if functions take none
//   bool declines(int status), dl_code_t code(int status), std::string message(int status)
#ifndef DL_KIT_LIBRARY_DIRECT_H_
#define DL_KIT_LIBRARY_DIRECT_H_

#include <deque>
#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/symbols.h"

DL_KIT_BEGIN

namespace library {

template <class Objects>
class DirectBackend : public Backend {
 public:
  DirectBackend(const LibraryFacts& facts, LibrarySet& libraries, Objects& objects)
      : facts_(facts), objects_(objects), addresses_(libraries, facts.function_count) {}

  const LibraryFacts& facts() const override { return facts_; }
  bool has(const Function& function) override { return addresses_.has(function); }

  void run(Call& call, const Function& function, const std::vector<Argument>& arguments) override {
    // Deques keep the addresses of their entries.
    std::deque<typename Objects::Tensor> tensors;
    std::deque<std::vector<typename Objects::Tensor>> lists;
    std::deque<typename Objects::Scalar> scalars;
    std::deque<typename Objects::Ints> ints;
    std::vector<Slot> slots(static_cast<size_t>(function.count));
    size_t position = 0;
    for (int i = 0; i < function.count; ++i) {
      Slot& slot = slots[static_cast<size_t>(i)];
      slot.pointer = nullptr;
      const ArgumentFacts::Automatic automatic = function.arguments[i].automatic;
      if (automatic == ArgumentFacts::kStream) {
        slot.pointer = call.stream();
      } else if (automatic == ArgumentFacts::kHandle) {
        slot.pointer = objects_.handle(call);
      }
      if (automatic != ArgumentFacts::kNo) continue;
      const Argument& argument = arguments[position++];
      if (const View* view = argument.view()) {
        tensors.push_back(tensor(*view));
        slot.pointer = &tensors.back();
      } else if (const Views* views = std::get_if<Views>(&argument.value)) {
        lists.emplace_back();
        for (const View& each : *views) lists.back().push_back(tensor(each));
        slot.pointer = lists.back().data();
      } else if (const Scalar* scalar = std::get_if<Scalar>(&argument.value)) {
        scalars.push_back(objects_.scalar(scalar->value, dtype(scalar->value.stype)));
        slot.pointer = &scalars.back();
      } else if (const Ints* list = std::get_if<Ints>(&argument.value)) {
        ints.push_back(objects_.ints(list->data(), list->size()));
        slot.pointer = &ints.back();
      } else {
        fill_value(*this, argument, slot);
      }
    }
    const int status = function.direct(addresses_.address(function), slots.data());
    if (status == 0) return;
    throw Error(
        objects_.declines(status) ? DL_NOT_SUPPORTED : objects_.code(status),
        std::string(call.name()) + ": " + function.name + " failed: " + objects_.message(status),
        function.name);
  }

 private:
  typename Objects::Tensor tensor(const View& view) {
    return objects_.tensor(view, dtype(view.dtype), format(view));
  }

  const LibraryFacts& facts_;
  Objects& objects_;
  FunctionAddresses addresses_;
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_DIRECT_H_
