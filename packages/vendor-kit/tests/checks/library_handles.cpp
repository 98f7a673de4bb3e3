#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "dl/kit/library/direct.h"
#include "dl/kit/library/handle_descriptors.h"

namespace lib = dl::kit::library;

namespace {

std::vector<char> memory(64);
dl_tensor_prefix_t buffer{};
diopiError_t require_buffer(diopiContextHandle_t, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t) {
  CHECK(bytes == 40);
  buffer.magic = DL_TENSOR_MAGIC;
  buffer.version = DL_PREFIX_VERSION;
  buffer.data = memory.data();
  *tensor = reinterpret_cast<diopiTensorHandle_t>(&buffer);
  return diopiSuccess;
}

std::vector<lib::Slot> seen;
int status = 0;
int compute(void*, const lib::Slot* slots) {
  seen.assign(slots, slots + 8);
  return status;
}
int ask_size(void*, const lib::Slot* slots) {
  CHECK(slots[1].pointer != nullptr);
  *static_cast<size_t*>(slots[2].pointer) = 40;
  return 0;
}

using Facts = lib::ArgumentFacts;
constexpr Facts argument(const char* name, Facts::Automatic automatic, bool writes = false) {
  return {name, !writes, writes, true, 0, 0, -1, automatic};
}
constexpr Facts kArguments[] = {argument("handle", Facts::kHandle),
                                argument("x_desc", Facts::kDescriptor),
                                argument("x", Facts::kNo),
                                argument("alpha", Facts::kNo),
                                argument("only_desc", Facts::kOnlyDescriptor),
                                argument("workspace", Facts::kWorkspace),
                                argument("bytes", Facts::kWorkspaceSize),
                                argument("mode", Facts::kNo)};
constexpr Facts kSizing[] = {argument("handle", Facts::kHandle),
                             argument("x_desc", Facts::kOnlyDescriptor),
                             argument("bytes", Facts::kWorkspaceResult)};
constexpr Facts kPlain[] = {argument("stream", Facts::kStream), argument("x", Facts::kNo),
                            argument("list", Facts::kNo),       argument("alpha", Facts::kNo),
                            argument("dims", Facts::kNo),       argument("p", Facts::kNo),
                            argument("flag", Facts::kNo),       argument("dtype", Facts::kNo)};
// Names of functions that the C library has.
constexpr lib::Function kCompute = {0, "abs", nullptr, kArguments, 8, nullptr, compute};
constexpr lib::Function kAskSize = {1, "labs", nullptr, kSizing, 3, nullptr, ask_size};
constexpr lib::Function kDirect = {2, "abs", nullptr, kPlain, 8, nullptr, compute};
// A list with its descriptors, an object, and a workspace that kAskSize sizes by the second
// argument.
constexpr Facts kLists[] = {argument("handle", Facts::kHandle),
                            argument("all_desc", Facts::kDescriptors),
                            argument("all", Facts::kNo),
                            argument("x_desc", Facts::kDescriptor),
                            argument("x", Facts::kNo),
                            argument("object", Facts::kNo),
                            argument("workspace", Facts::kWorkspace),
                            argument("bytes", Facts::kWorkspaceSize)};
constexpr int8_t kSecond[] = {1};
constexpr lib::Function kWithLists = {0,       "abs",   nullptr,   kLists, 8,
                                      nullptr, compute, &kAskSize, kSecond};
constexpr int kDtypes[17] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr lib::LibraryFacts kFacts = {
    "toy", kDtypes, {0, 0, 0, 0, 7, 0, 0, 0, 0}, nullptr, nullptr, 0, 3, nullptr};

struct Objects {
  static constexpr const char* kName = "toy";
  int handles = 0, descriptors = 0, alive = 0;
  int handle_objects[4] = {};
  void* bound = nullptr;
  int last_format = 0;

  // Members that direct.h calls.
  struct Tensor {
    void* data;
    int dtype;
  };
  using Scalar = double;
  using Ints = std::vector<int64_t>;
  Tensor tensor(const lib::View& x, int dtype, int) { return {x.data(), dtype}; }
  Scalar scalar(const diopiScalar_t& x, int) { return dl::kit::number_of<double>(&x); }
  Ints ints(const int64_t* values, uint64_t count) { return Ints(values, values + count); }
  void* handle(lib::Call&) { return nullptr; }

  // Members that handle_descriptors.h calls.
  bool supports(const lib::Function&) { return true; }
  void* create_handle() { return &handle_objects[handles++]; }  // never destroyed
  int bind(void*, void* stream) {
    bound = stream;
    return 0;
  }
  void* create_descriptor(const lib::View&, int, int format) {
    ++descriptors;
    ++alive;
    last_format = format;
    return new int(0);
  }
  void destroy_descriptor(void* made) {
    --alive;
    delete static_cast<int*>(made);
  }
  const void* scalar(const diopiScalar_t& x, lib::ScalarMemory& room) {
    const float value = dl::kit::number_of<float>(&x);
    std::memcpy(room.bytes, &value, sizeof value);
    return room.bytes;
  }
  bool declines(int code) { return code == 9; }
  dl_code_t code(int) { return DL_ERROR; }
  std::string message(int code) { return "status " + std::to_string(code); }
};

lib::View tensor(void* storage, int64_t size) {
  lib::View view;
  view.is_present = true;
  view.storage = storage;
  view.dtype = diopi_dtype_float32;
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
  context.stream = memory.data();
  const auto ctx = reinterpret_cast<diopiContextHandle_t>(&context);
  lib::LibrarySet libraries({"libc.so.6"}, {}, "install it");
  float a[4], b[4];
  Objects objects;
  {
    lib::HandleDescriptorsBackend<Objects> backend(kFacts, libraries, objects, 2);
    lib::Call call(ctx, "op", backend);
    const auto run = [&](const lib::View& x) {
      backend.run_sized(call, kCompute,
                        {lib::Argument{x}, lib::Argument{lib::scalar_of(2.0)},
                         lib::Argument{tensor(b, 3)}, lib::Argument{int64_t{5}}},
                        kAskSize, {lib::Argument{x}});
    };
    run(tensor(a, 4));
    CHECK(seen[2].pointer == a && seen[1].pointer != nullptr && seen[4].pointer != seen[1].pointer);
    CHECK(seen[5].pointer == memory.data() && seen[6].integer == 40 && seen[7].integer == 5);
    CHECK(objects.handles == 1 && objects.bound == memory.data());
    // Equal layouts share a descriptor; the least recently used one is dropped.
    CHECK(objects.descriptors == 2);
    run(tensor(b, 4));
    CHECK(objects.descriptors == 2 && backend.created() == 2);
    lib::View images = tensor(a, 1);
    images.ndim = 4;
    run(images);
    CHECK(backend.cached() == 2 && objects.alive == 2 && objects.descriptors > 2);
    // The workspace is sized for an argument of the function.
    int target = 0;
    const auto owner = std::make_shared<int>(1);
    backend.run(call, kWithLists,
                {lib::Argument{lib::Views{tensor(a, 4), lib::View{}}}, lib::Argument{tensor(b, 4)},
                 lib::Argument{lib::Object{owner, &target}}});
    CHECK(seen[1].pointer != nullptr && seen[2].pointer != nullptr && seen[4].pointer == b);
    CHECK(seen[5].pointer == &target && seen[6].pointer == memory.data());
    CHECK(seen[7].integer == 40 && owner.use_count() == 1);
    // Each thread has its own handle.
    std::thread([&] { run(tensor(a, 4)); }).join();
    CHECK(objects.handles == 2);
    status = 9;
    CHECK(thrown([&] { run(tensor(a, 4)); }).code == DL_NOT_SUPPORTED);
    status = 3;
    CHECK(mentions(thrown([&] { run(tensor(a, 4)); }), "op: abs failed: status 3"));
    status = 0;
  }
  CHECK(objects.alive == 0);

  lib::DirectBackend<Objects> direct(kFacts, libraries, objects);
  lib::Call call(ctx, "op", direct);
  direct.run(call, kDirect,
             {lib::Argument{tensor(a, 4)}, lib::Argument{lib::Views{tensor(b, 1)}},
              lib::Argument{lib::scalar_of(int64_t{3})}, lib::Argument{lib::Ints{7, 8}},
              lib::Argument{0.5}, lib::Argument{true}, lib::Argument{lib::Dtype{4}}});
  CHECK(seen[0].pointer == memory.data() && seen[5].number == 0.5 && seen[6].integer == 1);
  CHECK(seen[7].integer == 4);
  direct.run(call, kDirect,
             {lib::Argument{}, lib::Argument{}, lib::Argument{}, lib::Argument{},
              lib::Argument{1.0}, lib::Argument{false}, lib::Argument{lib::Dtype{4}}});
  CHECK(seen[1].pointer == nullptr && seen[4].pointer == nullptr);
  CHECK(thrown([&] { direct.run_sized(call, kDirect, {}, kAskSize, {}); }).code ==
        DL_NOT_SUPPORTED);
}
