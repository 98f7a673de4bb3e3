// Tensors, layouts and workspaces, on a host with a single buffer.
#include <cmath>
#include <vector>

#include "check.h"
#include "dl/kit/layout.h"
#include "dl/kit/pinned.h"
#include "dl/kit/tensor.h"
#include "dl/kit/workspace.h"
#include "dl/operator.hpp"

namespace kit = dl::kit;

namespace {

struct Tensor : dl_tensor_prefix_t {
  Tensor(std::vector<int64_t> shape, std::vector<int64_t> steps, int32_t kind = diopi_dtype_float32)
      : dl_tensor_prefix_t{}, own_sizes(std::move(shape)), own_strides(std::move(steps)) {
    magic = DL_TENSOR_MAGIC;
    version = DL_PREFIX_VERSION;
    sizes = own_sizes.data();
    strides = own_strides.data();
    ndim = static_cast<int64_t>(own_sizes.size());
    numel = 1;
    for (const int64_t size : own_sizes) numel *= size;
    dtype = kind;
  }
  diopiConstTensorHandle_t handle() const {
    return reinterpret_cast<diopiConstTensorHandle_t>(static_cast<const dl_tensor_prefix_t*>(this));
  }
  std::vector<int64_t> own_sizes, own_strides;
};

void check_tensors() {
  const Tensor x({2, 1, 3}, {3, 3, 1}), t({3, 2}, {1, 3}), empty({0, 4}, {4, 1}), scalar({}, {});
  CHECK(&kit::tensor_of(x.handle()) == &x);
  CHECK(thrown([] { kit::tensor_of(nullptr); }).code == DL_INVALID_ARGUMENT);
  CHECK(kit::reach(x, 4) == 24 && kit::reach(t, 4) == 24 && kit::reach(scalar, 8) == 8);
  CHECK(kit::reach(empty, 4) == 0 && kit::reach(Tensor({4}, {0}), 4) == 4);

  const int64_t shape[] = {5, 2, 4, 3};
  int64_t strides[4];
  kit::broadcast_strides(x, shape, 4, strides);
  CHECK(strides[0] == 0 && strides[1] == 3 && strides[2] == 0 && strides[3] == 1);
  const StatusInfo status = thrown([&] { kit::broadcast_strides(t, shape, 4, strides); });
  CHECK(status.code == DL_NOT_SUPPORTED && mentions(status, "size 3 of dimension 0"));
  CHECK(thrown([&] { kit::broadcast_strides(x, shape, 2, strides); }).code == DL_NOT_SUPPORTED);
  kit::broadcast_strides(Tensor({1, 1, 3}, {3, 3, 1}), shape + 3, 1, strides);
  CHECK(strides[0] == 1);

  diopiScalar_t number{};
  number.stype = diopi_dtype_float64;
  number.fval = 2.5;
  CHECK(kit::number_of<double>(&number) == 2.5 && kit::number_of<int64_t>(&number) == 2);
  number.stype = diopi_dtype_int64;
  number.ival = -7;
  CHECK(kit::number_of<float>(&number) == -7.0f);
  CHECK(thrown([] { kit::number_of<int>(nullptr); }).code == DL_INVALID_ARGUMENT);
}

void check_layouts() {
  const Tensor x({2, 3}, {3, 1}), same({2, 3}, {3, 1}), turned({2, 3}, {1, 2});
  const Tensor longer({2, 3, 3}, {1, 1, 1}), half({2, 3}, {3, 1}, diopi_dtype_float16);
  const kit::Layout layout = kit::layout_of(x.handle());
  CHECK(layout == kit::layout_of(same.handle()));
  CHECK(kit::LayoutHash()(layout) == kit::LayoutHash()(kit::layout_of(same.handle())));
  for (const Tensor* other : {&turned, &longer, &half})
    CHECK(layout != kit::layout_of(other->handle()));
  CHECK(layout != kit::layout_of(x.handle(), 1));
  CHECK(thrown([] {
          Tensor wrong({1}, {1});
          wrong.magic = 0;
          kit::layout_of(wrong.handle());
        }).code == DL_INVALID_ARGUMENT);

  // Lists are not merged with their neighbors, and an absent argument differs from an empty one.
  const Tensor a({2}, {3}), b({}, {});
  kit::Layout first, second, absent;
  first.append(a.handle()).append(b.handle());
  second.append(b.handle()).append(a.handle());
  absent.append(a.handle()).append(nullptr);
  CHECK(first != second && first != absent && second != absent);
}

// A host that counts requests and has 1000 bytes.
int asked = 0;
alignas(64) unsigned char memory[1000];
Tensor buffer({1000}, {1}, diopi_dtype_uint8);

diopiError_t require_buffer(diopiContextHandle_t, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t) {
  ++asked;
  if (bytes > 1000) return diopiErrorOccurred;
  buffer.data = memory;
  *tensor = reinterpret_cast<diopiTensorHandle_t>(static_cast<dl_tensor_prefix_t*>(&buffer));
  return diopiSuccess;
}

void check_workspaces() {
  dl_handle_ops_t ops{};
  ops.struct_size = sizeof ops;
  ops.require_buffer = require_buffer;
  dl_context_prefix_t context{};
  context.magic = DL_CONTEXT_MAGIC;
  context.version = DL_PREFIX_VERSION;
  context.ops = &ops;
  auto* ctx = reinterpret_cast<diopiContextHandle_t>(&context);
  CHECK(kit::workspace(ctx, 0) == nullptr && asked == 0);
  CHECK(kit::workspace(ctx, 10) == memory && asked == 1);
  for (const uint64_t bytes : {uint64_t{1001}, UINT64_MAX}) {
    const StatusInfo status = thrown([&] { kit::workspace(ctx, bytes); });
    CHECK(status.code == DL_OUT_OF_MEMORY && mentions(status, std::to_string(bytes).c_str()));
  }

  kit::WorkspaceSizes sizes(2);
  const Tensor x({2, 3}, {3, 1}), y({4}, {1});
  for (int i = 0; i < 3; ++i) {
    CHECK(sizes.get(kit::layout_of(x.handle()), [] { return 100; }) == 100);
    CHECK(sizes.get(kit::layout_of(y.handle()), [] { return 200; }) == 200);
  }
  CHECK(sizes.asked() == 2);
}

void check_pinned() {
  kit::PinnedBlocks blocks;
  char room[64];
  CHECK(!blocks.holds(room, 1));
  blocks.add(room + 8, 16);
  CHECK(blocks.holds(room + 8, 16) && blocks.holds(room + 20, 4) && blocks.holds(room + 24, 0));
  CHECK(!blocks.holds(room + 8, 17) && !blocks.holds(room + 7, 1) && !blocks.holds(room + 25, 0));
  blocks.remove(room + 8);
  CHECK(!blocks.holds(room + 8, 1));
}

}  // namespace

MAIN {
  check_tensors();
  check_layouts();
  check_workspaces();
  check_pinned();
}
