// The plan of a case: its calls, in order.
//
// A plan is complete before anything runs, so a case that does not fit declines before anything is
// written.
#ifndef DL_KIT_LIBRARY_PLAN_H_
#define DL_KIT_LIBRARY_PLAN_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/dtype_rules.h"
#include "dl/kit/library/functions.h"
#include "dl/kit/library/scalars.h"
#include "dl/kit/library/values.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

namespace library {

// Work between calls of functions, such as numbers drawn by the host.
using Action = std::function<void(Call&)>;

// The calls of one case, in order.
class Plan {
 public:
  explicit Plan(Call& call) : call_(call) {}

  // Checks a call and adds it, unless it would write no element: libraries differ in what they do
  // with empty tensors. Throws Error with DL_NOT_SUPPORTED if an argument is not documented.
  void call(const Function& function, std::initializer_list<Argument> arguments) {
    Step step;
    step.function = &function;
    step.arguments = with_numbers(function, arguments);
    std::vector<Step> after;
    size_t position = 0;
    bool writes = false, is_empty = true;
    for (int i = 0; i < function.count; ++i) {
      const ArgumentFacts& facts = function.arguments[i];
      if (facts.is_filled()) continue;
      Argument& argument = step.arguments[position++];
      if (View* view = std::get_if<View>(&argument.value)) {
        // Many functions document one dimension at least, and take a scalar as such a tensor.
        if (view->ndim == 0 && facts.min_ndim == 1) *view = as_vector(*view);
        check(function, facts, *view);
        if (facts.writes) {
          writes = true;
          is_empty = is_empty && view->numel() == 0;
        }
        if ((!facts.strided || view->contiguous_only) && !view->is_contiguous())
          *view = contiguous(facts, *view, after);
      } else if (Views* views = std::get_if<Views>(&argument.value)) {
        is_empty = is_empty && !facts.writes;
        for (View& each : *views) {
          check(function, facts, each);
          if (!facts.strided && each.numel() != 0 && !each.is_contiguous())
            each = contiguous(facts, each, after);
        }
      }
    }
    if (writes && is_empty) return;
    steps_.push_back(std::move(step));
    for (Step& each : after) steps_.push_back(std::move(each));
  }
  // As call, with the function that returns the size of the workspace.
  void call(const Function& function, std::initializer_list<Argument> arguments,
            const Function& sizing, std::initializer_list<Argument> sizing_arguments) {
    const size_t before = steps_.size();
    call(function, arguments);
    for (size_t i = before; i < steps_.size(); ++i) {
      if (steps_[i].function != &function) continue;
      steps_[i].sizing = &sizing;
      steps_[i].sizing_arguments = with_numbers(sizing, sizing_arguments);
    }
  }
  // As call, with the size of the workspace in bytes.
  void call(const Function& function, std::initializer_list<Argument> arguments, int64_t bytes) {
    const size_t before = steps_.size();
    call(function, arguments);
    for (size_t i = before; i < steps_.size(); ++i) {
      if (steps_[i].function == &function) steps_[i].workspace_bytes = bytes;
    }
  }
  void act(Action action) {
    Step step;
    step.action = std::move(action);
    steps_.push_back(std::move(step));
  }

  // A float32 copy of a tensor of half precision, for calls whose intermediate results must not be
  // rounded; other tensors are returned as they are. `reads`: the calls read its elements.
  // `writes`: they write them, and the last step converts them back.
  View upcast(const View& view, bool reads, bool writes) {
    if (!view.is_present ||
        (view.dtype != diopi_dtype_float16 && view.dtype != diopi_dtype_bfloat16))
      return view;
    const View made = replacement("float32", view, diopi_dtype_float32);
    if (view.numel() == 0) return made;
    const Function* copy = call_.backend().facts().copy;
    if (reads) steps_.push_back(copying(copy, made, view));
    if (writes) last_.push_back(copying(copy, view, made));
    return made;
  }

  // Runs the calls in order, if the library accepts each. A failure after an output was
  // written is an error, because the host could not compute the operator instead.
  void run() {
    for (Step& each : last_) steps_.push_back(std::move(each));
    last_.clear();
    if (steps_.size() > 1) {
      for (const Step& step : steps_) {
        if (step.function != nullptr && step.sizing == nullptr)
          call_.backend().accept(call_, *step.function, step.arguments);
      }
    }
    bool wrote = false;
    for (Step& step : steps_) {
      try {
        if (step.sizing != nullptr)
          call_.backend().run_sized(call_, *step.function, step.arguments, *step.sizing,
                                    step.sizing_arguments);
        else if (step.workspace_bytes >= 0)
          call_.backend().run_with_workspace(call_, *step.function, step.arguments,
                                             step.workspace_bytes);
        else if (step.function != nullptr)
          call_.backend().run(call_, *step.function, step.arguments);
        else
          step.action(call_);
      } catch (const Error& error) {
        if (!wrote || error.code() != DL_NOT_SUPPORTED) throw;
        throw Error(DL_ERROR,
                    std::string(call_.name()) + " failed after it had written: " + error.what(),
                    error.operation());
      }
      wrote = wrote || writes_outputs(step);
    }
  }

 private:
  struct Step {
    const Function* function = nullptr;
    std::vector<Argument> arguments;
    const Function* sizing = nullptr;
    std::vector<Argument> sizing_arguments;
    int64_t workspace_bytes = -1;  // negative: not given
    Action action;
  };

  // The arguments with each scalar in a dtype that the function takes. Throws Error with
  // DL_NOT_SUPPORTED if an integer does not fit its C type.
  std::vector<Argument> with_numbers(const Function& function,
                                     std::vector<Argument> arguments) const {
    size_t position = 0;
    for (int i = 0; i < function.count; ++i) {
      const ArgumentFacts& facts = function.arguments[i];
      if (facts.is_filled()) continue;
      Argument& argument = arguments[position++];
      if (Scalar* scalar = std::get_if<Scalar>(&argument.value))
        *scalar = converted_scalar(call_.backend().facts(), function, facts, *scalar, arguments);
      const int64_t* integer = std::get_if<int64_t>(&argument.value);
      if (integer != nullptr && (*integer < facts.range.smallest || *integer > facts.range.largest))
        refuse(std::to_string(*integer) + " does not fit the type that " + function.name +
               " declares for " + facts.name);
    }
    return arguments;
  }

  static View as_vector(View view) {
    view.ndim = 1;
    view.sizes[0] = view.strides[0] = 1;
    return view;
  }

  static bool writes_outputs(const Step& step) {
    if (step.function == nullptr) return true;
    size_t position = 0;
    for (int i = 0; i < step.function->count; ++i) {
      const ArgumentFacts& facts = step.function->arguments[i];
      if (facts.is_filled()) continue;
      const Argument& argument = step.arguments[position++];
      if (!facts.writes || argument.is_null()) continue;
      const View* view = argument.view();
      if (view == nullptr || !view->is_temporary) return true;
    }
    return false;
  }

  void check(const Function& function, const ArgumentFacts& facts, const View& view) const {
    if (facts.dtypes != 0 && !view.any_dtype && (facts.dtypes >> view.dtype & 1) == 0)
      refuse(std::string(function.name) + " does not document " + dtype_name(view.dtype) + " for " +
             facts.name);
    call_.backend().dtype(view.dtype);
    if (facts.max_ndim >= 0 && (view.ndim < facts.min_ndim || view.ndim > facts.max_ndim))
      refuse(std::string(function.name) + " documents " + std::to_string(facts.min_ndim) + " to " +
             std::to_string(facts.max_ndim) + " dimensions for " + facts.name + ", not " +
             std::to_string(view.ndim));
  }

  // Memory for a copy of a tensor.
  View replacement(const char* quality, const View& view, int32_t dtype) {
    const Function* copy = call_.backend().facts().copy;
    if (copy == nullptr || !call_.has(*copy))
      refuse(std::string("the library has no copy to make a tensor ") + quality);
    View made = call_.temporary(Dtype{dtype}, Ints(view.sizes, view.sizes + view.ndim));
    made.format = view.format;
    made.any_dtype = view.any_dtype;
    made.contiguous_only = view.contiguous_only;
    return made;
  }
  static Step copying(const Function* copy, const View& to, const View& from) {
    Step step;
    step.function = copy;
    step.arguments = copy_arguments(*copy, to, from);
    return step;
  }

  // A contiguous tensor for an argument; copies the elements before and after the call.
  View contiguous(const ArgumentFacts& facts, const View& view, std::vector<Step>& after) {
    const View made = replacement("contiguous", view, view.dtype);
    const Function* copy = call_.backend().facts().copy;
    if (facts.reads) steps_.push_back(copying(copy, made, view));
    if (facts.writes) after.push_back(copying(copy, view, made));
    return made;
  }

  Call& call_;
  std::vector<Step> steps_;
  std::vector<Step> last_;  // after all others
};

// Plans a case by `body(plan)` and runs it. Returns false if it declined before anything ran.
template <class Body>
bool attempt(Call& call, int number, const Body& body) {
  try {
    Plan plan(call);
    body(plan);
    plan.run();
    return true;
  } catch (const Error& error) {
    if (error.code() != DL_NOT_SUPPORTED) throw;
    call.note(number, error.what());
    return false;
  }
}

// Returns true if a condition of a case holds. One that cannot be computed, such as the size of a
// dimension that a tensor does not have, does not hold.
template <class Condition>
bool holds(Call& call, int number, const char* reason, const Condition& condition) {
  try {
    if (condition()) return true;
    call.note(number, reason);
  } catch (const Error& error) {
    if (error.code() != DL_NOT_SUPPORTED) throw;
    call.note(number, error.what());
  }
  return false;
}

// A tensor with another memory format, or with other rules, in one case.
inline View formatted(View view, int32_t format) {
  view.format = format;
  return view;
}
inline View only_contiguous(View view) {
  view.contiguous_only = true;
  return view;
}
inline View of_dtypes(View view, uint32_t dtypes, const char* name) {
  require_dtype(view, dtypes, name);
  view.any_dtype = true;
  return view;
}
inline Views formatted(Views views, int32_t format) {
  for (View& view : views) view.format = format;
  return views;
}
inline Views only_contiguous(Views views) {
  for (View& view : views) view.contiguous_only = true;
  return views;
}
inline Views of_dtypes(Views views, uint32_t dtypes, const char* name) {
  for (View& view : views) view = of_dtypes(view, dtypes, name);
  return views;
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_PLAN_H_
