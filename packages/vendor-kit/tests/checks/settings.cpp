#include "dl/kit/settings.h"

#include <cstring>

#include "check.h"
#include "dl/kit/communicator_id.h"

namespace kit = dl::kit;

namespace {

dl_host_t host_with(int32_t answer) {
  static int32_t given;
  given = answer;
  dl_host_t host{};
  host.struct_size = sizeof host;
  host.float32_matmul_precision = [](const dl_host_t*) { return given & 1; };
  host.float32_convolution_precision = [](const dl_host_t*) { return given >> 1 & 1; };
  host.deterministic = [](const dl_host_t*) { return given >> 2; };
  return host;
}

void check_settings() {
  dl_context_prefix_t prefix{};
  prefix.magic = DL_CONTEXT_MAGIC;
  prefix.version = DL_PREFIX_VERSION;
  auto* const ctx = reinterpret_cast<diopiContextHandle_t>(&prefix);
  for (int32_t answer = 0; answer < 8; ++answer) {
    dl_host_t host = host_with(answer);
    prefix.host = &host;
    CHECK(kit::allows_tf32_products(ctx) == ((answer & 1) != 0));
    CHECK(kit::allows_tf32_convolutions(ctx) == ((answer & 2) != 0));
    CHECK(kit::wants_determinism(ctx) == ((answer & 4) != 0));
    // A host that ends before the settings does not have them.
    host.struct_size = offsetof(dl_host_t, float32_convolution_precision);
    CHECK(kit::allows_tf32_products(ctx) == ((answer & 1) != 0));
    CHECK(!kit::allows_tf32_convolutions(ctx) && !kit::wants_determinism(ctx));
  }
  prefix.host = nullptr;
  CHECK(!kit::allows_tf32_products(ctx) && !kit::allows_tf32_convolutions(ctx));
  CHECK(!kit::wants_determinism(ctx) && !kit::wants_determinism(nullptr));
}

// Identifiers as long as HCCL's.
struct LongId {
  char bytes[4108];
};

struct Vendor : kit::Instance {
  static constexpr const char* kName = "toy";
  static constexpr const char* kVersion = "1";

  LongId joined{};

  int32_t device_count() const { return 2; }
  LongId new_communicator_id() {
    LongId id;
    for (size_t i = 0; i < sizeof id.bytes; ++i) id.bytes[i] = static_cast<char>(i * 31 + 7);
    return id;
  }
  void* join_communicator(int32_t, const LongId& id, int32_t, int32_t, double) {
    joined = id;
    return this;
  }
};

void check_ids() {
  Vendor vendor;
  dl_communicator_extension_t table{};
  kit::fill_sized_id_slots<Vendor, LongId>(table);
  uint64_t bytes = 0;
  CHECK(table.id_size(&vendor, &bytes) == nullptr && bytes == 4108);
  std::string id(bytes + 1, '\0');  // unaligned
  char* const place = id.data() + 1;
  CHECK(table.sized_unique_id(&vendor, place, bytes) == nullptr);
  void* made = nullptr;
  CHECK(table.sized_create(&vendor, 1, place, bytes, 2, 1, 3.0, &made) == nullptr);
  CHECK(made == &vendor && std::memcmp(vendor.joined.bytes, place, bytes) == 0);
  const auto refusal = [&](uint64_t size, int32_t ranks, int32_t rank, double seconds) {
    return take(table.sized_create(&vendor, 1, place, size, ranks, rank, seconds, &made));
  };
  CHECK(mentions(refusal(128, 2, 1, 0), "has 128 bytes; an id of this vendor has 4108"));
  CHECK(mentions(refusal(bytes, 2, 2, 0), "rank 2 of 2 ranks"));
  CHECK(mentions(refusal(bytes, 2, 1, -1), "not a valid timeout"));
  CHECK(mentions(take(table.sized_unique_id(&vendor, nullptr, bytes)), "the id is NULL"));
}

}  // namespace

MAIN {
  check_settings();
  check_ids();
}
