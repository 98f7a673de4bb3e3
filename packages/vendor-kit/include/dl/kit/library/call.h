// One call of an operator by the functions of a library, and what calls the functions.
#ifndef DL_KIT_LIBRARY_CALL_H_
#define DL_KIT_LIBRARY_CALL_H_

#include <string>
#include <vector>

#include "diopi/diopirt.h"
#include "dl/context.h"
#include "dl/kit/base.h"
#include "dl/kit/library/functions.h"
#include "dl/kit/library/values.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

namespace library {

class Call;

// Calls the functions of a library, by one of the shapes two_phase.h, direct.h and
// handle_descriptors.h. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const LibraryFacts& facts() const = 0;
  // Returns true if the library has the function.
  virtual bool has(const Function& function) = 0;
  // Runs the function on the stream of the call. Throws Error with DL_NOT_SUPPORTED if the library
  // declines the call before it runs.
  virtual void run(Call& call, const Function& function,
                   const std::vector<Argument>& arguments) = 0;

  // Declines a call that the library refuses, without running it. A plan of several calls asks this
  // for each before it runs the first. Only libraries that check arguments apart from running can
  // tell.
  virtual void accept(Call&, const Function&, const std::vector<Argument>&) {}

  // As run, for a function with a workspace whose size another function returns.
  virtual void run_sized(Call&, const Function& function, const std::vector<Argument>&,
                         const Function&, const std::vector<Argument>&) {
    refuse(std::string(function.name) + " needs a workspace that this shape of calls cannot give");
  }

  // As run, with a workspace of a known size.
  virtual void run_with_workspace(Call&, const Function& function, const std::vector<Argument>&,
                                  int64_t) {
    refuse(std::string(function.name) + " needs a workspace that this shape of calls cannot give");
  }

  // Number of executors or descriptors that are cached, and of those that were created.
  virtual size_t cached() const { return 0; }
  virtual uint64_t created() const { return 0; }

  int dtype(int32_t dtype) const {
    const int number = dtype < 0 || dtype > 16 ? -1 : facts().dtypes[dtype];
    if (number < 0) refuse(std::string(facts().name) + " has no dtype " + dtype_name(dtype));
    return number;
  }
  int format(const View& view) const {
    return view.format >= 0 ? view.format : facts().formats[view.ndim];
  }
};

class Call {
 public:
  Call(diopiContextHandle_t ctx, const char* name, Backend& backend)
      : ctx_(ctx), name_(name), backend_(backend) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  diopiContextHandle_t context() const { return ctx_; }
  Backend& backend() const { return backend_; }
  const char* name() const { return name_; }
  void* stream() const { return dl_context_stream(ctx_); }
  int32_t device() const { return dl_context_device(ctx_); }
  bool has(const Function& function) { return backend_.has(function); }

  // A tensor that lives until the context dies; its memory is reused in stream order only.
  View temporary(Dtype dtype, const Ints& sizes) const {
    diopiTensorHandle_t made = nullptr;
    const diopiSize_t shape{sizes.data(), static_cast<int64_t>(sizes.size())};
    if (diopiRequireTensor(ctx_, &made, &shape, nullptr, static_cast<diopiDtype_t>(dtype.value),
                           diopi_device) != diopiSuccess)
      throw Error(DL_OUT_OF_MEMORY,
                  "the host has no memory for a temporary of " + std::string(name_),
                  "diopiRequireTensor");
    View view = view_of(made);
    view.is_temporary = true;
    return view;
  }

  // Remembers why a case was not taken.
  void note(int number, const std::string& reason) {
    reasons_ += (reasons_.empty() ? "" : "; ") + std::string("case ") + std::to_string(number) +
                ": " + reason;
  }
  [[noreturn]] void decline() const {
    refuse(std::string(name_) + " is not served by " + backend_.facts().name + ": " +
           (reasons_.empty() ? "no case" : reasons_));
  }

 private:
  const diopiContextHandle_t ctx_;
  const char* const name_;
  Backend& backend_;
  std::string reasons_;
};

// The arguments of the library's copy, whose order differs between libraries.
inline std::vector<Argument> copy_arguments(const Function& copy, const View& to,
                                            const View& from) {
  for (int i = 0; i < copy.count; ++i) {
    const ArgumentFacts& facts = copy.arguments[i];
    if (facts.is_filled()) continue;
    if (!facts.writes) return {Argument{from}, Argument{to}};
    break;
  }
  return {Argument{to}, Argument{from}};
}

// Fills the slot of an argument that libraries take in C's own types; NULL if there is no value.
inline void fill_value(const Backend& backend, const Argument& argument, Slot& slot) {
  slot.pointer = nullptr;
  if (const Bools* bools = std::get_if<Bools>(&argument.value)) {
    slot.pointer = const_cast<char*>(bools->values.data());
  } else if (const Doubles* doubles = std::get_if<Doubles>(&argument.value)) {
    slot.pointer = const_cast<double*>(doubles->data());
  } else if (const Dtype* given = std::get_if<Dtype>(&argument.value)) {
    slot.integer = backend.dtype(given->value);
  } else if (const int64_t* integer = std::get_if<int64_t>(&argument.value)) {
    slot.integer = *integer;
  } else if (const double* number = std::get_if<double>(&argument.value)) {
    slot.number = *number;
  } else if (const bool* boolean = std::get_if<bool>(&argument.value)) {
    slot.integer = *boolean ? 1 : 0;
  } else if (const char* const* text = std::get_if<const char*>(&argument.value)) {
    slot.pointer = const_cast<char*>(*text);
  } else if (const Object* object = std::get_if<Object>(&argument.value)) {
    slot.pointer = object->pointer;
  }
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_CALL_H_
