#include "aten/fallback/overlap.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <vector>

#include "aten/fallback/boxed_arguments.h"
#include "aten/fallback/dry_run.h"
#include "aten/layout/stride_equation.h"
#include "runtime/host.h"

namespace dl::core::overlap {
namespace {

// Beginning of torch's message for overlapping memory.
constexpr const char* kRefusal = "unsupported operation";

thread_local const c10::FunctionSchema* permitted = nullptr;

// Allows calls of an operator to pass its guard.
class Permit {
 public:
  explicit Permit(const c10::OperatorHandle& op) : before_(permitted) { permitted = &op.schema(); }
  ~Permit() { permitted = before_; }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

 private:
  const c10::FunctionSchema* before_;
};

struct Place {
  at::Tensor tensor;
  size_t argument;
  bool written;
  at::Tensor stand_in;
};

std::vector<Place> places_of(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                             size_t count) {
  std::vector<Place> result;
  visit_tensors(stack, begin, count, [&](const at::Tensor& tensor, size_t argument) {
    if (tensor.defined() && tensor.layout() == at::kStrided)
      result.push_back({tensor, argument, info.writes[argument], {}});
  });
  return result;
}

// Offsets in the storage of the first byte and of the byte behind the last one.
std::pair<int64_t, int64_t> span(const at::Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) elements += (tensor.size(i) - 1) * tensor.stride(i);
  const int64_t first = tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize());
  return {first, first + elements * static_cast<int64_t>(tensor.itemsize())};
}

// Returns true if a result could be larger than the tensor given for it, which then grows over the
// memory behind it.
bool may_grow(const at::Tensor& written, const at::Tensor& read) {
  return written.numel() < read.numel();
}

// Returns true if two tensors of one storage have a byte in common.
bool may_share_bytes(const at::Tensor& a, const at::Tensor& b) {
  const int64_t a_bytes = static_cast<int64_t>(a.itemsize());
  const int64_t b_bytes = static_cast<int64_t>(b.itemsize());
  StrideEquation equation;
  const auto add = [&](const at::Tensor& tensor, int64_t bytes, bool negated) {
    for (int64_t i = 0; i < tensor.dim(); ++i)
      equation.add(tensor.stride(i) * bytes, tensor.size(i) - 1, negated);
    equation.add(1, bytes - 1, negated);
  };
  add(a, a_bytes, false);
  add(b, b_bytes, true);
  return equation.may_have_solution(b.storage_offset() * b_bytes - a.storage_offset() * a_bytes);
}

// Operators whose result does not depend on the order of writes to one element, or for which torch
// documents it as undefined: torch lets them write to expanded tensors.
bool tolerates_repeats(const OperatorInfo& info) {
  const std::string base = info.name.substr(0, info.name.find('.'));
  return info.name == "fill_.Scalar" || base == "zero_" || base == "masked_fill_" ||
         base == "index_fill_" || base == "index_put_" || base == "_index_put_impl_";
}

void refuse_repeats(const OperatorInfo& info, const std::vector<Place>& places) {
  if (tolerates_repeats(info)) return;
  for (const Place& place : places) {
    TORCH_CHECK(!place.written || !repeats(place.tensor), kRefusal,
                ": more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation. (aten::",
                info.name, ")");
  }
}

bool surely_meets(const at::Tensor& a, const at::Tensor& b) {
  const auto status = at::get_overlap_status(a, b);
  return status == at::MemOverlapStatus::Full || status == at::MemOverlapStatus::Partial;
}

bool is_result(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Throws if two outputs share memory, because one result would be lost.
void refuse_shared_results(const c10::OperatorHandle& op, const OperatorInfo& info,
                           const std::vector<Place>& places) {
  const auto& arguments = op.schema().arguments();
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t k = i + 1; k < places.size(); ++k) {
      TORCH_CHECK(!is_result(arguments[places[i].argument]) ||
                      !is_result(arguments[places[k].argument]) ||
                      places[i].argument == places[k].argument ||
                      !surely_meets(places[i].tensor, places[k].tensor),
                  kRefusal, ": the outputs ", arguments[places[i].argument].name(), " and ",
                  arguments[places[k].argument].name(), " of aten::", info.name,
                  " share memory, so that one result would be lost. Please clone() one output "
                  "before performing the operation.");
    }
  }
}

// Returns true if the operator has an in-place form: then torch accepts the input as `out=` too.
bool has_in_place_form(const c10::OperatorHandle& op) {
  const auto& name = op.operator_name();
  std::string overload = name.overload_name;
  if (overload == "out") overload.clear();
  if (overload.size() > 4 && overload.compare(overload.size() - 4, 4, "_out") == 0)
    overload.resize(overload.size() - 4);
  auto& dispatcher = c10::Dispatcher::singleton();
  return dispatcher.findSchema({name.name + "_", overload}).has_value() ||
         dispatcher.findSchema({name.name + "_", ""}).has_value();
}

// Returns true if torch's kernel, which checks dense tensors only, may reject the call.
bool is_refusable(const c10::OperatorHandle& op, const std::vector<Place>& places) {
  for (const Place& written : places) {
    if (!written.written) continue;
    for (const Place& read : places) {
      if (read.written) continue;
      const auto status = at::get_overlap_status(written.tensor, read.tensor);
      if (status == at::MemOverlapStatus::Partial) return true;
      if (may_grow(written.tensor, read.tensor) && meets(written.tensor, read.tensor)) return true;
      const bool overwritten = op.schema().arguments()[read.argument].name() == "self";
      if (status == at::MemOverlapStatus::Full && !(overwritten && has_in_place_form(op)))
        return true;
    }
  }
  return false;
}

// Calls torch's CPU kernel on zeros of the same geometry to find out whether it accepts the
// arguments. Errors about the values are ignored.
void ask_cpu(const c10::OperatorHandle& op, torch::jit::Stack arguments) {
  const std::exception_ptr said = dry_run(op, std::move(arguments), Twins::blank, true);
  if (said == nullptr) return;
  try {
    std::rethrow_exception(said);
  } catch (const c10::Error& error) {
    if (std::strstr(error.what_without_backtrace(), kRefusal) != nullptr) throw;
  }
}

// Copies written tensors that may overlap other arguments to memory of their own. The values of an
// out= tensor are never read, and so not copied.
void separate(const c10::OperatorHandle& op, std::vector<Place>& places) {
  const auto& arguments = op.schema().arguments();
  for (Place& written : places) {
    if (!written.written || repeats(written.tensor)) continue;
    for (const Place& other : places) {
      if (&other == &written || !meets(written.tensor, other.tensor)) continue;
      written.stand_in = arguments[written.argument].is_out() ? at::empty_like(written.tensor)
                                                              : written.tensor.clone();
      break;
    }
  }
}

at::Tensor stand_in_for(const std::vector<Place>& places, const at::Tensor& tensor,
                        size_t argument) {
  for (const Place& place : places) {
    if (place.stand_in.defined() && place.argument == argument && place.tensor.is_same(tensor))
      return place.stand_in;
  }
  return tensor;
}

void put_stand_ins(const OperatorInfo& info, const std::vector<Place>& places,
                   torch::jit::Stack& stack, size_t begin, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!info.writes[i]) continue;
    c10::IValue& value = stack[begin + i];
    if (value.isTensor()) {
      value = stand_in_for(places, value.toTensor(), i);
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector())
        list.push_back(stand_in_for(places, tensor, i));
      value = std::move(list);
    }
  }
}

void carry_back(const std::vector<Place>& places) {
  for (const Place& place : places) {
    if (!place.stand_in.defined()) continue;
    if (place.tensor.sizes() != place.stand_in.sizes()) {
      place.tensor.resize_(place.stand_in.sizes());
      if (place.stand_in.is_non_overlapping_and_dense())
        place.tensor.as_strided_(place.stand_in.sizes(), place.stand_in.strides());
    }
    place.tensor.copy_(place.stand_in);
  }
}

void replace_results(const std::vector<Place>& places, torch::jit::Stack& stack, size_t returns) {
  const auto original = [&](const at::Tensor& tensor) {
    for (const Place& place : places) {
      if (place.stand_in.defined() && place.stand_in.is_same(tensor)) return place.tensor;
    }
    return tensor;
  };
  for (size_t i = stack.size() - returns; i < stack.size(); ++i) {
    c10::IValue& value = stack[i];
    if (value.isTensor()) {
      value = original(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(original(tensor));
      value = std::move(list);
    }
  }
}

}  // namespace

bool has_repeated_dim(const at::Tensor& tensor) {
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) == 0) return tensor.numel() > 0;
  }
  return false;
}

bool ranges_meet(const at::Tensor& written, const at::Tensor& read) {
  if (read.numel() == 0) return false;
  if (written.numel() == 0) return true;
  const auto [w_first, w_last] = span(written);
  const auto [r_first, r_last] = span(read);
  if (may_grow(written, read)) return w_first < r_last;
  return w_first < r_last && r_first < w_last && may_share_bytes(written, read);
}

bool coincide(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_same(b)) return true;
  return a.dtype() == b.dtype() && a.storage_offset() == b.storage_offset() &&
         a.sizes() == b.sizes() && a.strides() == b.strides() && a.is_conj() == b.is_conj() &&
         a.is_neg() == b.is_neg();
}

bool is_permitted(const c10::OperatorHandle& op) { return permitted == &op.schema(); }

bool are_entangled(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                   size_t count) {
  const std::vector<Place> places = places_of(info, stack, begin, count);
  for (const Place& written : places) {
    if (!written.written) continue;
    if (repeats(written.tensor)) return true;
    for (const Place& other : places) {
      if (&other != &written && meets(written.tensor, other.tensor)) return true;
    }
  }
  return false;
}

void disentangle(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  check_not_forked();
  const OperatorInfo& info = operator_info(op);
  const size_t count = op.schema().arguments().size();
  const size_t begin = stack->size() - count;
  std::vector<Place> places = places_of(info, *stack, begin, count);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  refuse_repeats(info, places);
  refuse_shared_results(op, info, places);
  if (is_refusable(op, places)) {
    ask_cpu(op, torch::jit::Stack(stack->begin() + begin, stack->end()));
  }
  separate(op, places);
  put_stand_ins(info, places, *stack, begin, count);
  {
    const Permit permit(op);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), stack);
  }
  carry_back(places);
  replace_results(places, *stack, op.schema().returns().size());
}

c10::BoxedKernel disentangle_kernel() { return c10::BoxedKernel::makeFromFunction<&disentangle>(); }

}  // namespace dl::core::overlap
