// Call of an operator that has rules.
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

  void convert_arguments() {
    each_parameter([&](const Rule& rule) {
      if (rule.is.direction == DL_ADAPTOR_STORED) {
        record_expected(rule);
      } else if (rule.is.count_position < 0 && rule.is.count == 0) {
        replace(rule, static_cast<diopiTensorHandle_t*>(values_[rule.is.position]));
      } else {
        replace_array(rule);
      }
    });
  }

  void convert_results() {
    for (const Replaced& one : replaced_) {
      naming(*one.rule, [&] { conversion(*one.rule, true).run(one.replacement, one.original); });
    }
    for (const Expected& one : expected_) {
      naming(*one.rule, [&] { convert_stored(one); });
    }
  }

 private:
  // An output that was replaced by a tensor of another dtype or format.
  struct Replaced {
    const Rule* rule;
    diopiTensorHandle_t original;
    diopiTensorHandle_t replacement;
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

  // Runs `body`, and prepends the names of operator and parameter to the message of a failure.
  template <typename Body>
  static void naming(const Rule& rule, Body&& body) {
    try {
      body();
    } catch (const Failure& failure) {
      throw Failure("[" + rule.operator_name + "] " + rule.parameter + ": " + failure.what(),
                    failure.code);
    }
  }

  // Stored handles come first: their dtype may depend on a tensor that is replaced afterwards.
  template <typename Body>
  void each_parameter(Body&& body) const {
    for (const bool stored : {true, false}) {
      for (const auto& rule : operator_.rules) {
        if ((rule->is.direction == DL_ADAPTOR_STORED) == stored)
          naming(*rule, [&] { body(*rule); });
      }
    }
  }

  void record_expected(const Rule& rule) {
    int32_t dtype = rule.is.stored_dtype;
    if (dtype < 0 && rule.is.stored_like >= 0) {
      const auto* like =
          adaptable(*static_cast<diopiConstTensorHandle_t*>(values_[rule.is.stored_like]));
      if (like != nullptr) dtype = like->dtype;
    }
    auto* handles = *static_cast<diopiTensorHandle_t**>(values_[rule.is.position]);
    // NULL: the caller does not need these results.
    if (dtype >= 0 && handles != nullptr) expected_.push_back({&rule, handles, dtype});
  }

  void replace_array(const Rule& rule) {
    auto** array = static_cast<diopiTensorHandle_t**>(values_[rule.is.position]);
    if (*array == nullptr) return;
    const int64_t count = rule.is.count_position < 0
                              ? rule.is.count
                              : *static_cast<int64_t*>(values_[rule.is.count_position]);
    if (count <= 0) return;
    // A copy, because the adaptor must not write to the host's array.
    arrays_.emplace_back(*array, *array + count);
    for (diopiTensorHandle_t& handle : arrays_.back()) replace(rule, &handle);
    *array = arrays_.back().data();
  }

  void replace(const Rule& rule, diopiTensorHandle_t* handle) {
    const dl_tensor_prefix_t* tensor = adaptable(*handle);
    if (tensor == nullptr) return;
    const bool known = tensor->dtype >= 0 && tensor->dtype < DL_ADAPTOR_DTYPES;
    const int32_t dtype = known ? rule.is.cast[tensor->dtype] : tensor->dtype;
    if (dtype == tensor->dtype && has_layout(*tensor, rule.is.layout)) return;
    bool channels_last = rule.is.layout == DL_FORMAT_CHANNELS_LAST && has_channels(tensor->ndim);
    if (rule.is.layout == DL_FORMAT_STRIDED)
      channels_last = format_of(*tensor) == DL_FORMAT_CHANNELS_LAST;
    const Conversion conversion = this->conversion(rule, false);
    const diopiTensorHandle_t replacement = conversion.make(*tensor, dtype, channels_last);
    if (rule.is.direction != DL_ADAPTOR_OUT) conversion.run(*handle, replacement);
    if (rule.is.direction != DL_ADAPTOR_IN) replaced_.push_back({&rule, *handle, replacement});
    *handle = replacement;
  }

  void convert_stored(const Expected& one) const {
    for (int32_t i = 0; i < one.rule->is.count; ++i) {
      diopiTensorHandle_t& handle = one.handles[i];
      const dl_tensor_prefix_t* tensor = adaptable(handle);
      // Other defects of the stored tensor are reported by the host.
      if (tensor == nullptr || tensor->dtype == one.dtype ||
          one.rule->is.cast[one.dtype] != tensor->dtype)
        continue;
      const Conversion conversion = this->conversion(*one.rule, true);
      const bool channels_last = format_of(*tensor) == DL_FORMAT_CHANNELS_LAST;
      const diopiTensorHandle_t replacement = conversion.make(*tensor, one.dtype, channels_last);
      conversion.run(handle, replacement);
      handle = replacement;
    }
  }

  Adaptor& adaptor_;
  const Operator& operator_;
  diopiContextHandle_t ctx_;
  void** values_;
  std::vector<std::vector<diopiTensorHandle_t>> arrays_;
  std::vector<Replaced> replaced_;
  std::vector<Expected> expected_;
};

// Runs a step of the adaptor and turns its failure into a code. Exceptions of the vendor's function
// are left to the host.
template <typename Body>
diopiError_t guarded(const Operator& called, Body&& body) {
  try {
    body();
    return diopiSuccess;
  } catch (const Failure& failure) {
    last_error() = {&called, failure.what()};
    return failure.code;
  } catch (const std::bad_alloc&) {
    last_error() = {&called, "[" + called.name + "] the adaptor is out of host memory"};
    return diopiErrorOccurred;
  }
}

}  // namespace

diopiError_t adapted_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke) {
  Adaptor* const adaptor = Adaptor::of(dl_context_vendor(ctx));
  if (adaptor == nullptr) return diopiErrorOccurred;  // the context is not ours
  const Operator& called = *adaptor->at(number);
  last_error().failed = nullptr;
  Call call(*adaptor, called, ctx, values);
  const diopiError_t converted = guarded(called, [&] { call.convert_arguments(); });
  if (converted != diopiSuccess) return converted;
  const diopiError_t code = invoke(called.function, ctx, values);
  if (code != diopiSuccess) return code;
  return guarded(called, [&] { call.convert_results(); });
}

}  // namespace dl::adaptor
