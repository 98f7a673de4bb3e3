// Numbers in the dtypes that a library's functions take.
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "dl/kit/library/plan.h"

namespace lib = dl::kit::library;

namespace {

constexpr lib::ArgumentFacts kArguments[] = {
    {"x", true, true, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"alpha", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo}};
constexpr lib::ArgumentFacts kOnlyInts[] = {
    {"x", true, true, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"alpha", true, false, true, 1U << diopi_dtype_int64, 0, -1, lib::ArgumentFacts::kNo}};
constexpr lib::Function kScale = {0, "scale", nullptr, kArguments, 2, nullptr, nullptr};
constexpr lib::Function kShift = {1, "shift", nullptr, kOnlyInts, 2, nullptr, nullptr};

// A library with these dtypes only.
struct Library : lib::Backend {
  explicit Library(std::initializer_list<int32_t> dtypes) {
    for (int& each : numbers) each = -1;
    for (const int32_t each : dtypes) numbers[each] = each;
  }
  int numbers[17];
  const lib::LibraryFacts all{"toy", numbers, {0, 0, 0, 0, 0, 0, 0, 0, 0}, nullptr, nullptr, 0,
                              2,     nullptr};
  lib::Scalar passed;
  const lib::LibraryFacts& facts() const override { return all; }
  bool has(const lib::Function&) override { return true; }
  void run(lib::Call&, const lib::Function&, const std::vector<lib::Argument>& given) override {
    passed = std::get<lib::Scalar>(given[1].value);
  }
};

lib::View tensor(int32_t dtype) {
  static double memory[1];
  lib::View view;
  view.is_present = true;
  view.storage = memory;
  view.dtype = dtype;
  view.ndim = 1;
  view.sizes[0] = view.strides[0] = 1;
  return view;
}

// The scalar that the function gets: "float32 2.5", or "declined: reason".
std::string passed(Library& library, const lib::Function& function, int32_t dtype,
                   const lib::Scalar& alpha) {
  lib::Call call(nullptr, "scale", library);
  const StatusInfo status = thrown([&] {
    lib::Plan plan(call);
    plan.call(function, {lib::Argument{tensor(dtype)}, lib::Argument{alpha}});
    plan.run();
  });
  if (status.code != DL_OK) return "declined: " + status.message;
  const diopiScalar_t& x = library.passed.value;
  const bool is_fraction = lib::category_of(x.stype) == lib::kFloating;
  return lib::dtype_name(x.stype) +
         (is_fraction ? " " + std::to_string(x.fval) : " " + std::to_string(x.ival));
}

constexpr int32_t kSingle = diopi_dtype_float32, kDouble = diopi_dtype_float64;
constexpr int32_t kLong = diopi_dtype_int64, kInt = diopi_dtype_int32;

}  // namespace

MAIN {
  // A library that has the dtype gets the number as it is.
  Library whole({kSingle, kDouble, kLong, kInt, diopi_dtype_bool});
  CHECK(passed(whole, kScale, kSingle, lib::scalar_of(0.1)) == "float64 0.100000");
  CHECK(passed(whole, kScale, kSingle, lib::scalar_of(int64_t{7})) == "int64 7");
  CHECK(passed(whole, kScale, kSingle, lib::scalar_of(true)) == "bool 1");

  // One that has float32 only.
  Library floats({kSingle});
  CHECK(passed(floats, kScale, kSingle, lib::scalar_of(2.5)) == "float32 2.500000");
  CHECK(passed(floats, kScale, kSingle, lib::scalar_of(0.1)) == "float32 0.100000");
  CHECK(passed(floats, kScale, kSingle, lib::scalar_of(int64_t{1})) == "float32 1.000000");
  CHECK(passed(floats, kScale, kSingle, lib::scalar_of(true)) == "float32 1.000000");
  // PyTorch rounds an integer for a tensor of float32.
  const lib::Scalar large = lib::scalar_of((int64_t{1} << 24) + 1);
  CHECK(passed(floats, kScale, kSingle, large) == "float32 16777217.000000");

  // Integers that are not exact in float32 are declined for tensors of integers, or of doubles.
  Library mixed({kSingle, kInt, kDouble});
  mixed.numbers[kDouble] = -1;
  CHECK(passed(mixed, kScale, kInt, lib::scalar_of(int64_t{-5})) == "int32 -5");
  CHECK(passed(mixed, kScale, kInt, lib::scalar_of(2.0)) == "float32 2.000000");
  const lib::Scalar huge = lib::scalar_of((int64_t{1} << 40) + 1);
  const std::string reason = passed(mixed, kScale, kInt, huge);
  CHECK(reason.find("declined: scale takes no int64 for alpha, and no dtype that it takes "
                    "represents 1099511627777 exactly; @scalar_like") == 0);
  constexpr lib::ArgumentFacts single{"alpha",       true, false, true,
                                      1U << kSingle, 0,    -1,    lib::ArgumentFacts::kNo};
  const auto with_double = [&](double value) {
    return thrown([&] {
      lib::converted_scalar(whole.all, kScale, single, lib::scalar_of(value),
                            {lib::Argument{tensor(kDouble)}});
    });
  };
  CHECK(with_double(0.5).code == DL_OK && mentions(with_double(0.1), "takes no float64 for alpha"));

  // The documented dtypes of the argument count too.
  CHECK(passed(whole, kShift, kSingle, lib::scalar_of(3.0)) == "int64 3");
  CHECK(passed(whole, kShift, kSingle, lib::scalar_of(3.5)).find("declined") == 0);
  CHECK(passed(whole, kShift, kSingle, lib::scalar_of(1e300)).find("declined") == 0);
  lib::Scalar unsigned_one = lib::scalar_of(int64_t{-1});
  unsigned_one.value.stype = diopi_dtype_uint64;
  CHECK(passed(whole, kShift, kSingle, unsigned_one).find("declined") == 0);
  CHECK(lib::Argument{lib::Scalar{}}.is_null());

  // The bytes are those of a dtype that the library has.
  lib::Scalar number = lib::scalar_of(int64_t{-2});
  number.value.stype = diopi_dtype_int32;
  const lib::ScalarBytes narrow(number.value, mixed.all), wide(number.value, whole.all);
  int32_t narrow_value = 0;
  int64_t wide_value = 0;
  std::memcpy(&narrow_value, narrow.data(), sizeof narrow_value);
  std::memcpy(&wide_value, wide.data(), sizeof wide_value);
  CHECK(narrow.dtype() == kInt && narrow_value == -2 && wide.dtype() == kLong && wide_value == -2);
}
