// Plans of cases, on a backend that records the calls.
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "check.h"
#include "dl/kit/library/plan.h"

namespace lib = dl::kit::library;

namespace {

// A host that allocates tensors of one dimension.
struct Allocated {
  dl_tensor_prefix_t prefix;
  int64_t size, stride;
  std::vector<char> memory;
};
std::deque<Allocated> allocated;
diopiError_t require_tensor(diopiContextHandle_t, diopiTensorHandle_t* tensor,
                            const diopiSize_t* size, const diopiSize_t*, diopiDtype_t dtype,
                            diopiDevice_t) {
  Allocated& made = allocated.emplace_back();
  made.size = size->data[0];
  made.stride = 1;
  made.memory.resize(static_cast<size_t>(8 * made.size));
  made.prefix.magic = DL_TENSOR_MAGIC;
  made.prefix.version = DL_PREFIX_VERSION;
  made.prefix.ndim = 1;
  made.prefix.sizes = &made.size;
  made.prefix.strides = &made.stride;
  made.prefix.dtype = dtype;
  made.prefix.data = made.prefix.storage = made.memory.data();
  *tensor = reinterpret_cast<diopiTensorHandle_t>(&made.prefix);
  return diopiSuccess;
}

constexpr lib::ArgumentFacts kCopied[] = {
    {"to", false, true, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"from", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo}};
constexpr lib::ArgumentFacts kScaled[] = {
    {"x", true, true, true, 0, 0, -1, lib::ArgumentFacts::kNo}};
constexpr lib::Function kCopy = {0, "copy", nullptr, kCopied, 2, nullptr, nullptr};
constexpr lib::Function kScale = {1, "scale", nullptr, kScaled, 1, nullptr, nullptr};
constexpr lib::Function kRefused = {2, "refused", nullptr, kScaled, 1, nullptr, nullptr};
constexpr lib::ArgumentFacts kNarrow[] = {
    {"x", true, true, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"dim", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo, lib::range_of<int32_t>()},
    {"count", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo, lib::range_of<uint64_t>()}};
constexpr lib::Function kShift = {2, "shift", nullptr, kNarrow, 3, nullptr, nullptr};
constexpr int kDtypes[17] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr lib::LibraryFacts kFacts = {
    "toy", kDtypes, {0, 0, 0, 0, 0, 0, 0, 0, 0}, &kCopy, nullptr, 0, 3, nullptr};

// Records "function dtype dtype" for each call.
struct Recorder : lib::Backend {
  std::vector<std::string> calls;
  const lib::LibraryFacts& facts() const override { return kFacts; }
  bool has(const lib::Function&) override { return true; }
  void accept(lib::Call&, const lib::Function& function,
              const std::vector<lib::Argument>&) override {
    if (&function == &kRefused) lib::refuse("not accepted");
  }
  void run(lib::Call&, const lib::Function& function,
           const std::vector<lib::Argument>& arguments) override {
    std::string text = function.name;
    for (const lib::Argument& each : arguments)
      text += each.view() == nullptr ? std::string(" number")
                                     : std::string(" ") + lib::dtype_name(each.view()->dtype);
    calls.push_back(text);
  }
};

lib::View tensor(void* storage, int32_t dtype) {
  lib::View view;
  view.is_present = true;
  view.storage = storage;
  view.dtype = dtype;
  view.ndim = 1;
  view.sizes[0] = 3;
  view.strides[0] = 1;
  return view;
}

using Calls = std::vector<std::string>;

}  // namespace

MAIN {
  dl_handle_ops_t ops{};
  ops.struct_size = sizeof ops;
  ops.require_tensor = require_tensor;
  dl_context_prefix_t context{};
  context.magic = DL_CONTEXT_MAGIC;
  context.version = DL_PREFIX_VERSION;
  context.ops = &ops;
  Recorder backend;
  lib::Call call(reinterpret_cast<diopiContextHandle_t>(&context), "add", backend);
  double memory[3];
  const lib::View half = tensor(memory, diopi_dtype_float16);
  const lib::View single = tensor(memory, diopi_dtype_float32);
  const lib::View whole = tensor(memory, diopi_dtype_int32);

  // A condition that cannot be computed does not hold.
  CHECK(lib::holds(call, 1, "not (a)", [] { return true; }));
  CHECK(!lib::holds(call, 2, "not (b)", [] { return false; }));
  CHECK(!lib::holds(call, 3, "not (c)", []() -> bool { lib::refuse("no such dimension"); }));
  const StatusInfo declined = thrown([&] { call.decline(); });
  CHECK(mentions(declined, "case 2: not (b); case 3: no such dimension"));

  // An integer that its C type would cut declines the case.
  const auto shift = [&](int64_t dim, int64_t count) {
    return lib::attempt(call, 4, [&](lib::Plan& plan) {
      plan.call(kShift, {lib::Argument{single}, lib::Argument{dim}, lib::Argument{count}});
    });
  };
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  CHECK(shift(kLargest, 0) && shift(-kLargest - 1, std::numeric_limits<int64_t>::max()));
  CHECK(!shift(kLargest + 1, 0) && !shift(-kLargest - 2, 0) && !shift(0, -1));
  const StatusInfo cut = thrown([&] { call.decline(); });
  CHECK(mentions(cut, "2147483648 does not fit the type that shift declares for dim"));
  CHECK(mentions(cut, "-1 does not fit the type that shift declares for count"));

  // Tensors of half precision are converted before the first call and after the last one.
  const auto scale_twice = [&](const lib::View& view, bool reads, bool writes) {
    backend.calls.clear();
    return lib::attempt(call, 1, [&](lib::Plan& plan) {
      const lib::View x = plan.upcast(view, reads, writes);
      plan.call(kScale, {lib::Argument{x}});
      plan.call(kScale, {lib::Argument{x}});
    });
  };
  CHECK(scale_twice(half, true, true));
  CHECK(backend.calls ==
        (Calls{"copy float32 float16", "scale float32", "scale float32", "copy float16 float32"}));
  CHECK(scale_twice(half, false, true));
  CHECK(backend.calls == (Calls{"scale float32", "scale float32", "copy float16 float32"}));
  CHECK(scale_twice(half, true, false));
  CHECK(backend.calls == (Calls{"copy float32 float16", "scale float32", "scale float32"}));
  CHECK(scale_twice(single, true, true));
  CHECK(backend.calls == (Calls{"scale float32", "scale float32"}));

  // Nothing runs if the library refuses a later call.
  backend.calls.clear();
  bool drew = false;
  CHECK(!lib::attempt(call, 1, [&](lib::Plan& plan) {
    plan.act([&](lib::Call&) { drew = true; });
    plan.call(kScale, {lib::Argument{single}});
    plan.call(kRefused, {lib::Argument{single}});
  }));
  CHECK(backend.calls.empty() && !drew);

  // Dtypes that the contract does not allow.
  lib::require_dtype(single, 1U << diopi_dtype_float32, "x");
  lib::require_dtype(lib::View{}, 0, "x");
  lib::require_same_dtype(lib::Views{single, half}, "x", lib::Views{single, half}, "y");
  lib::require_same_dtype(single, "x", lib::View{}, "y");
  CHECK(mentions(thrown([&] { lib::require_dtype(lib::Views{single, whole}, 1U << 9, "x"); }),
                 "x has the dtype int32"));
  CHECK(mentions(thrown([&] { lib::require_same_dtype(half, "x", single, "y"); }),
                 "x has the dtype float16, and y float32"));
  CHECK(thrown([&] {
          lib::require_same_dtype(lib::Views{single, half}, "x", lib::Views{single, single}, "y");
        }).code == DL_NOT_SUPPORTED);
}
