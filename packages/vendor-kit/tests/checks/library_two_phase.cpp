#include "dl/kit/library/two_phase.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "dl/kit/library/plan.h"

namespace lib = dl::kit::library;

namespace {

// A host whose memory is the program's own.
std::vector<std::vector<char>> memory;
bool is_full = false;
diopiError_t require_buffer(diopiContextHandle_t, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t) {
  if (is_full) return diopiErrorOccurred;
  memory.emplace_back(static_cast<size_t>(bytes));
  static std::vector<std::unique_ptr<dl_tensor_prefix_t>> made;
  made.push_back(std::make_unique<dl_tensor_prefix_t>());
  dl_tensor_prefix_t* const prefix = made.back().get();
  prefix->magic = DL_TENSOR_MAGIC;
  prefix->version = DL_PREFIX_VERSION;
  prefix->data = memory.back().data();
  *tensor = reinterpret_cast<diopiTensorHandle_t>(prefix);
  return diopiSuccess;
}

struct Objects {
  static constexpr const char* kName = "toy";
  std::multiset<void*> alive;
  int next = 0;
  bool fails = false, repeats = true;
  std::vector<void*> bound;

  void* make() {
    if (fails) return nullptr;
    return *alive.insert(new int(++next));
  }
  void drop(void* object) {
    CHECK(alive.count(object) == 1);
    alive.erase(object);
    delete static_cast<int*>(object);
  }
  void* create_tensor(const int64_t*, int64_t, int, const int64_t*, int64_t, int, int64_t, void*) {
    return make();
  }
  void* create_scalar(const void*, int) { return make(); }
  void* create_ints(const int64_t*, uint64_t) { return make(); }
  void* create_bools(const bool*, uint64_t) { return make(); }
  void* create_doubles(const double*, uint64_t) { return make(); }
  void* create_list(void* const* tensors, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) drop(tensors[i]);
    return make();
  }
  void destroy_tensor(void* x) { drop(x); }
  void destroy_scalar(void* x) { drop(x); }
  void destroy_ints(void* x) { drop(x); }
  void destroy_bools(void* x) { drop(x); }
  void destroy_doubles(void* x) { drop(x); }
  void destroy_list(void* x) { drop(x); }
  void destroy_executor(void* x) { drop(x); }
  bool make_repeatable(void*) { return repeats; }
  bool set_input(void*, uint64_t, void* tensor, void* base) {
    CHECK(alive.count(tensor) == 1);
    bound.push_back(base);
    return true;
  }
  bool set_output(void* executor, uint64_t index, void* tensor, void* base) {
    return set_input(executor, index, tensor, base);
  }
  bool declines(int status) { return status == 2; }
  dl_code_t code(int) { return DL_ERROR; }
  std::string message(int status) { return "status " + std::to_string(status); }
  bool read_shape(void*, lib::Ints* sizes) {
    *sizes = {5};
    return true;
  }
};
Objects objects;
int begins = 0, executions = 0, begin_status = 0, execute_status = 0;
std::vector<lib::Slot> last_slots;

// Arguments of the function that is called.
size_t argument_count = 4;
int begin(void*, const lib::Slot* slots, uint64_t* bytes, void** executor) {
  ++begins;
  last_slots.assign(slots, slots + argument_count);
  if (begin_status != 0) return begin_status;
  *bytes = 7;
  *executor = objects.make();
  return 0;
}
int execute(void*, void* workspace, uint64_t bytes, void* executor, void*) {
  ++executions;
  CHECK(workspace != nullptr && bytes == 7 && objects.alive.count(executor) == 1);
  // The second phase destroys an executor that is not repeatable.
  if (!objects.repeats) objects.drop(executor);
  return execute_status;
}

constexpr lib::ArgumentFacts kArguments[] = {
    {"self", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"alpha", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"dim", true, false, true, 0, 0, -1, lib::ArgumentFacts::kNo},
    {"out", false, true, true, 0, 0, -1, lib::ArgumentFacts::kNo}};
constexpr lib::ArgumentFacts kFloats[] = {
    {"x", true, false, true, 1U << diopi_dtype_float32, 0, 2, lib::ArgumentFacts::kNo}};
constexpr lib::ArgumentFacts kVectors[] = {
    {"x", true, true, true, 0, 1, 2, lib::ArgumentFacts::kNo}};
// Names of functions that the C library has, because only begin and execute are called.
constexpr lib::Function kAdd = {0, "abs", "labs", kArguments, 4, begin, nullptr};
constexpr lib::Function kMissing = {1, "abs", "no_such_function", kArguments, 4, begin, nullptr};
constexpr lib::Function kFloatOnly = {2, "abs", "labs", kFloats, 1, begin, nullptr};
constexpr lib::Function kVector = {3, "abs", "labs", kVectors, 1, begin, nullptr};
constexpr int kDtypes[17] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, 13, 14, 15, 16};
constexpr const char* kNames[] = {"libc.so.6"};
constexpr lib::LibraryFacts kFacts = {
    "toy", kDtypes, {2, 2, 2, 2, 2, 2, 2, 2, 2}, nullptr, kNames, 1, 4, execute};

lib::View tensor(void* storage, int64_t size, int32_t dtype = diopi_dtype_float32) {
  lib::View view;
  view.is_present = true;
  view.storage = storage;
  view.storage_bytes = 4 * size;
  view.dtype = dtype;
  view.ndim = 1;
  view.sizes[0] = size;
  view.strides[0] = 1;
  return view;
}

}  // namespace

MAIN {
  dl_handle_ops_t ops{};
  ops.struct_size = sizeof ops;
  ops.require_buffer = require_buffer;
  dl_context_prefix_t context{};
  context.magic = DL_CONTEXT_MAGIC;
  context.version = DL_PREFIX_VERSION;
  context.ops = &ops;
  const auto ctx = reinterpret_cast<diopiContextHandle_t>(&context);
  float a[8], b[8];
  {
    lib::LibrarySet libraries({"libc.so.6"}, {}, "install it");
    lib::TwoPhaseBackend<Objects> backend(kFacts, libraries, objects, 2);
    lib::Call call(ctx, "add", backend);
    const auto run = [&](void* in, void* out, int64_t size, double alpha) {
      backend.run(call, kAdd,
                  {lib::Argument{tensor(in, size)}, lib::Argument{lib::scalar_of(alpha)},
                   lib::Argument{int64_t{1}}, lib::Argument{tensor(out, size)}});
    };
    CHECK(backend.has(kAdd) && !backend.has(kMissing));

    // Equal layouts and numbers share an executor, whose addresses are exchanged.
    run(a, b, 8, 1.0);
    CHECK(begins == 1 && executions == 1 && backend.cached() == 1);
    run(b, a, 8, 1.0);
    CHECK(begins == 1 && executions == 2);
    CHECK(objects.bound == (std::vector<void*>{b, a}));
    run(a, b, 8, 2.0);
    CHECK(begins == 2);
    // A tensor that is input and output is another call.
    run(a, a, 8, 2.0);
    CHECK(begins == 3 && backend.cached() == 2);  // of capacity 2
    run(a, b, 8, 1.0);
    CHECK(begins == 4);

    // Failures leave nothing behind.
    const size_t before = objects.alive.size();
    begin_status = 2;
    CHECK(thrown([&] { run(a, b, 3, 1.0); }).code == DL_NOT_SUPPORTED);
    begin_status = 3;
    const StatusInfo refused = thrown([&] { run(a, b, 3, 1.0); });
    CHECK(refused.code == DL_ERROR &&
          mentions(refused, "add: abs refuses the arguments: status 3"));
    begin_status = 0;
    is_full = true;
    CHECK(thrown([&] { run(a, b, 3, 1.0); }).code == DL_OUT_OF_MEMORY);
    is_full = false;
    objects.fails = true;
    CHECK(thrown([&] { run(a, b, 3, 1.0); }).code == DL_ERROR);
    objects.fails = false;
    CHECK(objects.alive.size() == before && backend.cached() == 2);
    // A failed execution removes the executor from the cache.
    execute_status = 5;
    CHECK(mentions(thrown([&] { run(a, b, 8, 1.0); }), "abs failed: status 5"));
    execute_status = 0;
    CHECK(backend.cached() == 1);

    // An executor that runs once is destroyed by its execution, and is not tried again.
    objects.repeats = false;
    const size_t cached = objects.alive.size();
    run(a, b, 5, 1.0);
    run(a, b, 5, 1.0);
    CHECK(objects.alive.size() == cached && backend.cached() == 1);
    is_full = true;
    CHECK(thrown([&] { run(a, b, 5, 1.0); }).code == DL_OUT_OF_MEMORY);
    is_full = false;
    CHECK(objects.alive.size() == cached);
    // Lists, and NULL.
    backend.run(call, kAdd,
                {lib::Argument{lib::Views{tensor(a, 1), tensor(b, 1)}}, lib::Argument{},
                 lib::Argument{int64_t{4}}, lib::Argument{tensor(b, 1)}});
    CHECK(last_slots[1].pointer == nullptr && last_slots[2].integer == 4);
    CHECK(objects.alive.size() == cached);
    // Sizes that the function finds out.
    bool waited = false;
    const auto shapes =
        backend.run_and_read_shapes(call, kAdd,
                                    {lib::Argument{tensor(a, 1)}, lib::Argument{},
                                     lib::Argument{int64_t{4}}, lib::Argument{tensor(b, 9)}},
                                    [&] { waited = true; });
    CHECK(waited && shapes[3] == lib::Ints{5} && shapes[1].empty());
    CHECK(objects.alive.size() == cached);

    // A plan checks documented dtypes and dimensions, and declines before anything runs.
    const int so_far = executions;
    CHECK(!lib::attempt(call, 1, [&](lib::Plan& plan) {
      plan.call(kFloatOnly, {lib::Argument{tensor(a, 1, diopi_dtype_int32)}});
    }));
    CHECK(!lib::attempt(call, 2, [&](lib::Plan& plan) {
      lib::View x = tensor(a, 1);
      x.ndim = 3;
      plan.call(kFloatOnly, {lib::Argument{x}});
    }));
    CHECK(!lib::attempt(call, 3, [&](lib::Plan& plan) {
      plan.call(kFloatOnly,
                {lib::Argument{lib::of_dtypes(tensor(a, 1, diopi_dtype_int32), 1U << 8, "x")}});
    }));
    const StatusInfo declined = thrown([&] { call.decline(); });
    CHECK(declined.code == DL_NOT_SUPPORTED && executions == so_far);
    CHECK(mentions(declined, "case 1: abs does not document int32 for x"));
    CHECK(mentions(declined, "case 2: abs documents 0 to 2 dimensions for x, not 3"));
    CHECK(mentions(declined, "case 3: x has the dtype int32"));
    // The library has no number for bfloat16.
    CHECK(!lib::attempt(call, 4, [&](lib::Plan& plan) {
      plan.call(kAdd, {lib::Argument{tensor(a, 1, diopi_dtype_bfloat16)}, lib::Argument{},
                       lib::Argument{int64_t{0}}, lib::Argument{tensor(b, 1)}});
    }));
    // A call that would write no element does not run, and a scalar is passed as a vector if one
    // dimension is documented at least.
    CHECK(lib::attempt(call, 5, [&](lib::Plan& plan) {
      plan.call(kAdd, {lib::Argument{tensor(a, 1)}, lib::Argument{}, lib::Argument{int64_t{0}},
                       lib::Argument{tensor(b, 0)}});
    }));
    CHECK(executions == so_far);
    CHECK(lib::attempt(call, 5, [&](lib::Plan& plan) {
      lib::View scalar = tensor(a, 1);
      scalar.ndim = 0;
      argument_count = 1;
      plan.call(kVector, {lib::Argument{scalar}});
    }));
    argument_count = 4;
    CHECK(executions == so_far + 1);
    // After an output was written, a refusal is an error.
    begin_status = 0;
    const StatusInfo late = thrown([&] {
      lib::attempt(call, 5, [&](lib::Plan& plan) {
        plan.call(kAdd, {lib::Argument{tensor(a, 1)}, lib::Argument{}, lib::Argument{int64_t{0}},
                         lib::Argument{tensor(b, 1)}});
        plan.act([](lib::Call&) { lib::refuse("too late"); });
      });
    });
    CHECK(late.code == DL_ERROR && mentions(late, "failed after it had written: too late"));
  }
  CHECK(objects.alive.empty());

  lib::LibrarySet none({"libno_such_thing.so", "libno_such_*.so"}, {"/nowhere"}, "install it");
  const StatusInfo absent = thrown([&] { none.find("f"); });
  CHECK(absent.code == DL_UNAVAILABLE && mentions(absent, "install it"));
}
