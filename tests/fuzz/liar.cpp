// A vendor whose answers are right or wrong: the number in FUZZ_LIES determines for each call if
// and how its answer is wrong. 0: never.
//
// Only its answers are wrong: it writes to memory only where it may.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "dl/operator.hpp"

namespace {

uint64_t seed = 0, state = 0;
uint64_t share = 0;  // number of wrong values among 256

uint64_t draw() {
  uint64_t z = (state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

bool lies() {
  const char* text = std::getenv("FUZZ_LIES");
  const uint64_t wanted = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  if (wanted != seed) {
    seed = state = wanted;
    const uint64_t shares[] = {4, 16, 64, 160};
    share = shares[draw() % 4];
  }
  return seed != 0 && draw() % 256 < share;
}

// Return memory at the end of a page that is followed by an unmapped one.
char* edge(size_t bytes, char fill) {
  static char* page = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  static const int done = mprotect(page + 4096, 4096, PROT_NONE);
  (void)done;
  char* start = page + 4096 - bytes;
  std::memset(start, fill, bytes);
  return start;
}

void* nowhere() {
  const uint64_t places[] = {
      0, 1, 8, 0x123450, 0x7fffffffffff, 0xdeadbeef00000000, ~uint64_t{0}, ~uint64_t{7}};
  if (draw() % 6 == 0) return edge(draw() % 64, 'e');
  return reinterpret_cast<void*>(places[draw() % 8]);
}

// A function pointer to memory without code is detected only by a trial, which hosts run first.
void* no_code() {
  if (std::getenv("FUZZ_TRIAL") != nullptr) return nowhere();
  return reinterpret_cast<void*>(uintptr_t{0x123450});
}

template <typename T>
T* pointer(T* truth) {
  return lies() ? static_cast<T*>(nowhere()) : truth;
}

template <typename T>
T number(T truth) {
  if (!lies()) return truth;
  const uint64_t values[] = {0,
                             1,
                             2,
                             7,
                             63,
                             64,
                             65,
                             1000,
                             uint64_t{1} << 31,
                             (uint64_t{1} << 31) - 1,
                             uint64_t{1} << 32,
                             uint64_t{1} << 62,
                             uint64_t{1} << 63,
                             ~uint64_t{0},
                             truth + uint64_t{1},
                             truth - uint64_t{1}};
  return static_cast<T>(values[draw() % 16]);
}

const char* text(const char* truth) {
  if (!lies()) return truth;
  static char room[1 << 16];
  switch (draw() % 6) {
    case 0:
      return static_cast<const char*>(nowhere());
    case 1:
      return edge(100, 'x');  // not terminated
    case 2:
      std::memset(room, 'l', sizeof room - 1);
      return room;
    case 3:
      return "forged\nProblems: none\x1b[2J\xe2\x80\xae";
    case 4:
      for (int i = 0; i < 300; ++i) room[i] = static_cast<char>(draw() % 255 + 1);
      return room[300] = 0, room;
    default:
      return "";
  }
}

void throws() {
  if (!lies() || draw() % 4 != 0) return;
  switch (draw() % 4) {
    case 0:
      throw std::runtime_error("ran away\n\x1b[2J");
    case 1:
      throw 1;
    case 2:
      throw std::bad_alloc();
    default:
      throw "text";
  }
}

dl_status_t* status() {
  throws();
  if (!lies()) return nullptr;
  static dl_status_t made;
  made = {number(sizeof(dl_status_t)),
          number<int32_t>(DL_ERROR),
          number(0),
          text("it hurts"),
          text("here"),
          [](dl_status_t*) {},
          text("line\nline")};
  if (lies()) made.release = nullptr;
  return pointer(&made);
}

// Output parameters are filled in, even if there is an error.
template <typename T, typename V>
dl_status_t* answer(T* out, V value) {
  *out = static_cast<T>(value);
  return status();
}

diopiError_t relu(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return static_cast<diopiError_t>(number<int>(diopiSuccess));
}
namespace named {
diopiError_t diopiRelu(diopiContextHandle_t a, diopiTensorHandle_t b, diopiConstTensorHandle_t c) {
  return relu(a, b, c);
}
}  // namespace named

dl_status_t* operators(dl_vendor_t*, const dl_operator_t** out, uint64_t* count) {
  static const dl_operator_t truth[] = {DL_OPERATOR(named, diopiRelu),
                                        DL_OPERATOR(named, diopiRelu)};
  static dl_operator_t list[2];
  std::memcpy(list, truth, sizeof list);
  for (dl_operator_t& one : list) {
    one.name = text(one.name);
    one.fingerprint = number(one.fingerprint);
    if (lies()) one.function = reinterpret_cast<decltype(one.function)>(no_code());
  }
  *count = number<uint64_t>(2);
  return answer(out, pointer(&list[0]));
}

dl_status_t* present(dl_vendor_t*, int32_t* out) { return answer(out, number(1)); }
dl_status_t* device_count(dl_vendor_t*, int32_t* out) { return answer(out, number(1)); }
dl_status_t* properties(dl_vendor_t*, int32_t, dl_device_properties_t* out) {
  std::snprintf(out->name, sizeof out->name, "device");
  if (lies()) std::memset(out->name, static_cast<int>(draw() % 256), sizeof out->name);
  if (lies()) std::memset(out->architecture, 0xff, sizeof out->architecture);
  out->total_memory = number<uint64_t>(1024);
  out->major = number(1);
  out->multiprocessor_count = number(1);
  out->warp_size = number(1);
  out->struct_size = number(out->struct_size);
  return status();
}
dl_status_t* synchronize(dl_vendor_t*, int32_t) { return status(); }

dl_status_t* allocate(dl_vendor_t*, int32_t, uint64_t bytes, void** out) {
  throws();
  void* made =
      bytes < (uint64_t{1} << 32) ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
  *out = made;
  if (made == nullptr) {
    static dl_status_t full = {sizeof full, DL_OUT_OF_MEMORY,    0,      "full",
                               nullptr,     [](dl_status_t*) {}, nullptr};
    return &full;
  }
  if (lies()) return *out = nullptr, nullptr;
  if (lies()) return *out = static_cast<char*>(made) + 8, nullptr;
  return status();
}
// Nothing is freed, since a wrong answer may have hidden the beginning of the block.
dl_status_t* give_back(dl_vendor_t*, int32_t, void*) { return status(); }
dl_status_t* info(dl_vendor_t*, int32_t, uint64_t* left, uint64_t* total) {
  *left = number<uint64_t>(1);
  return answer(total, number<uint64_t>(2));
}
dl_status_t* host_allocate(dl_vendor_t*, uint64_t bytes, void** out) {
  void* made = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return answer(out, pointer(made));
}
dl_status_t* host_free(dl_vendor_t*, void*) { return status(); }
dl_status_t* copy(dl_vendor_t*, int32_t, void* to, const void* from, uint64_t bytes, int32_t,
                  void*) {
  std::memcpy(to, from, bytes);
  return status();
}
dl_status_t* set(dl_vendor_t*, int32_t, void* to, int32_t value, uint64_t bytes, void*) {
  std::memset(to, value, bytes);
  return status();
}
dl_status_t* stream_create(dl_vendor_t*, int32_t, int32_t, void** out) {
  return answer(out, pointer(static_cast<void*>(&seed)));
}
dl_status_t* stream_done(dl_vendor_t*, int32_t, void*) { return status(); }
dl_status_t* stream_query(dl_vendor_t*, int32_t, void*, int32_t* out) {
  return answer(out, number(1));
}
dl_status_t* stream_wait(dl_vendor_t*, int32_t, void*, void*) { return status(); }
dl_status_t* event_create(dl_vendor_t*, int32_t, uint64_t, void** out) {
  return answer(out, pointer(static_cast<void*>(&seed)));
}
dl_status_t* event_elapsed(dl_vendor_t*, int32_t, void*, void*, double* out) {
  return answer(out, lies() ? -1e30 : 1.0);
}
const char* last_error(dl_vendor_t*) {
  throws();
  return text("it does not like the sign");
}
void destroy(dl_vendor_t*) { throws(); }

}  // namespace

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static dl_vendor_table_t tables[64];
  static dl_vendor_t vendors[64];
  static dl_extension_t extensions[2];
  static unsigned next = 0;
  // Each instance keeps its table.
  dl_vendor_table_t& table = tables[next % 64];
  dl_vendor_t& vendor = vendors[next++ % 64];
  extensions[1] = {number(sizeof(dl_extension_t)), number<uint64_t>(77), nullptr};
  extensions[0] = {number(sizeof(dl_extension_t)), number<uint64_t>(78), pointer(&extensions[1])};
  table = dl_vendor_table_t{};
  table.struct_size = number(sizeof table);
  table.extensions = lies() ? pointer(&extensions[0]) : nullptr;
  table.name = text("liar");
  table.version = text("1");
  table.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER;
  table.destroy = destroy;
  table.present = present;
  table.device_count = device_count;
  table.device_properties = properties;
  table.device_synchronize = synchronize;
  table.memory_allocate = allocate;
  table.memory_free = give_back;
  table.memory_info = info;
  table.host_allocate = host_allocate;
  table.host_free = host_free;
  table.memory_copy = copy;
  table.memory_set = set;
  table.stream_create = stream_create;
  table.stream_destroy = stream_done;
  table.stream_synchronize = stream_done;
  table.stream_query = stream_query;
  table.stream_wait_event = stream_wait;
  table.event_create = event_create;
  table.event_destroy = stream_done;
  table.event_record = stream_wait;
  table.event_synchronize = stream_done;
  table.event_query = stream_query;
  table.event_elapsed = event_elapsed;
  table.operators = operators;
  table.last_error = last_error;
  // Missing or invalid slots.
  auto* slots = reinterpret_cast<void**>(&table.destroy);
  const size_t count = (sizeof table - offsetof(dl_vendor_table_t, destroy)) / sizeof(void*);
  if (lies()) slots[draw() % count] = nullptr;
  if (lies()) slots[draw() % count] = no_code();
  vendor.table = pointer(&table);
  throws();
  *out = pointer(&vendor);
  return status();
}
