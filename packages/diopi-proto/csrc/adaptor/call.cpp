// One call of an operator that has rules.
#include <cstring>
#include <exception>

#include "adaptor/conversion.h"
#include "adaptor/failure.h"
#include "adaptor/layout.h"
#include "adaptor/operators.h"
#include "diopi/diopirt.h"
#include "dl/context.h"

namespace dl::adaptor {
namespace {

class Call {
 public:
  Call(Adaptor& adaptor, const Operator& called, diopiContextHandle_t ctx, void** values)
      : adaptor_(adaptor), operator_(called), ctx_(ctx), values_(values) {}

  void bring_in() {
    each_parameter([&](const Rule& rule) {
      if (rule.is.direction == DL_ADAPTOR_STORED) {
        note_expected(rule);
      } else if (rule.is.count_position < 0 && rule.is.count == 0) {
        replace(rule, static_cast<diopiTensorHandle_t*>(values_[rule.is.position]));
      } else {
        replace_array(rule);
      }
    });
  }

  void bring_back() {
    for (const Moved& one : moved_) {
      during(*one.rule, [&] { conversion(*one.rule, true).run(one.made, one.given); });
    }
    for (const Expected& one : expected_) {
      during(*one.rule, [&] { take(one); });
    }
  }

 private:
  // A result that the operator has written elsewhere.
  struct Moved {
    const Rule* rule;
    diopiTensorHandle_t given;
    diopiTensorHandle_t made;
  };
  // Handles that the operator stores, and the dtype that the host expects of them.
  struct Expected {
    const Rule* rule;
    diopiTensorHandle_t* handles;
    int32_t dtype;
  };

  Conversion conversion(const Rule& rule, bool result) const {
    return {adaptor_, ctx_, rule, result};
  }

  template <typename Body>
  static void during(const Rule& rule, Body&& body) {
    try {
      body();
    } catch (const Failure& failure) {
      throw Failure("[" + rule.operator_name + "] " + rule.parameter + ": " + failure.what(),
                    failure.code);
    }
  }

  // Stored handles first: their dtype may follow from a tensor that is about to be replaced.
  template <typename Body>
  void each_parameter(Body&& body) const {
    for (const bool stored : {true, false}) {
      for (const auto& rule : operator_.rules) {
        if ((rule->is.direction == DL_ADAPTOR_STORED) == stored)
          during(*rule, [&] { body(*rule); });
      }
    }
  }

  void note_expected(const Rule& rule) {
    int32_t dtype = rule.is.stored_dtype;
    if (dtype < 0 && rule.is.stored_like >= 0) {
      const auto* like =
          adaptable(*static_cast<diopiConstTensorHandle_t*>(values_[rule.is.stored_like]));
      if (like != nullptr) dtype = like->dtype;
    }
    auto* handles = *static_cast<diopiTensorHandle_t**>(values_[rule.is.position]);
    // NULL: the caller does without them.
    if (dtype >= 0 && handles != nullptr) expected_.push_back({&rule, handles, dtype});
  }

  void replace_array(const Rule& rule) {
    auto** given = static_cast<diopiTensorHandle_t**>(values_[rule.is.position]);
    if (*given == nullptr) return;
    const int64_t count = rule.is.count_position < 0
                              ? rule.is.count
                              : *static_cast<int64_t*>(values_[rule.is.count_position]);
    if (count <= 0) return;
    // The host's array is not ours to write.
    arrays_.emplace_back(*given, *given + count);
    for (diopiTensorHandle_t& handle : arrays_.back()) replace(rule, &handle);
    *given = arrays_.back().data();
  }

  void replace(const Rule& rule, diopiTensorHandle_t* handle) {
    const dl_tensor_prefix_t* tensor = adaptable(*handle);
    if (tensor == nullptr) return;
    const bool known = tensor->dtype >= 0 && tensor->dtype < DL_ADAPTOR_DTYPES;
    const int32_t dtype = known ? rule.is.cast[tensor->dtype] : tensor->dtype;
    if (dtype == tensor->dtype && lies_as(*tensor, rule.is.layout)) return;
    bool channels_last = rule.is.layout == DL_FORMAT_CHANNELS_LAST && has_channels(tensor->ndim);
    if (rule.is.layout == DL_FORMAT_STRIDED)
      channels_last = format_of(*tensor) == DL_FORMAT_CHANNELS_LAST;
    const Conversion conversion = this->conversion(rule, false);
    const diopiTensorHandle_t made = conversion.make(*tensor, dtype, channels_last);
    if (rule.is.direction != DL_ADAPTOR_OUT) conversion.run(*handle, made);
    if (rule.is.direction != DL_ADAPTOR_IN) moved_.push_back({&rule, *handle, made});
    *handle = made;
  }

  void take(const Expected& one) const {
    for (int32_t i = 0; i < one.rule->is.count; ++i) {
      diopiTensorHandle_t& handle = one.handles[i];
      const dl_tensor_prefix_t* tensor = adaptable(handle);
      // What else is wrong with it is for the host to find.
      if (tensor == nullptr || tensor->dtype == one.dtype ||
          one.rule->is.cast[one.dtype] != tensor->dtype)
        continue;
      const Conversion conversion = this->conversion(*one.rule, true);
      const bool channels_last = format_of(*tensor) == DL_FORMAT_CHANNELS_LAST;
      const diopiTensorHandle_t made = conversion.make(*tensor, one.dtype, channels_last);
      conversion.run(handle, made);
      handle = made;
    }
  }

  Adaptor& adaptor_;
  const Operator& operator_;
  diopiContextHandle_t ctx_;
  void** values_;
  std::vector<std::vector<diopiTensorHandle_t>> arrays_;
  std::vector<Moved> moved_;
  std::vector<Expected> expected_;
};

// Runs what is the adaptor's own; what the vendor's function throws is for the host.
template <typename Body>
diopiError_t guarded(const Operator& called, Body&& body) {
  try {
    body();
    return diopiSuccess;
  } catch (const Failure& failure) {
    last_error() = {&called, failure.what()};
    return failure.code;
  } catch (const std::bad_alloc&) {
    last_error() = {&called, "[" + called.name + "] no memory for the adaptor"};
    return diopiErrorOccurred;
  }
}

}  // namespace

diopiError_t adapted_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke) {
  Adaptor* const adaptor = Adaptor::of(dl_context_vendor(ctx));
  if (adaptor == nullptr) return diopiErrorOccurred;  // a context of another vendor, or none
  const Operator& called = *adaptor->at(number);
  last_error().failed = nullptr;
  Call call(*adaptor, called, ctx, values);
  const diopiError_t before = guarded(called, [&] { call.bring_in(); });
  if (before != diopiSuccess) return before;
  const diopiError_t code = invoke(called.function, ctx, values);
  if (code != diopiSuccess) return code;
  return guarded(called, [&] { call.bring_back(); });
}

}  // namespace dl::adaptor
