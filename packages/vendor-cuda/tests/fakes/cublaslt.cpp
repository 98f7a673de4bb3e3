// A libcublasLt.so.13 for tests: it judges every argument as cuBLASLt's documentation has it, and
// computes on the host with memory that the driver of DL_CUDA_DRIVER holds.
//
//   FAKE_CUBLASLT_FAIL=cublasLtMatmul:13   functions that fail, and how
//   FAKE_CUBLASLT_CALLS=path               a file that gets a line for every call; of a product:
//                                          "cublasLtMatmul 32f 5x3x4 batch 2 NT bias"; further
//                                          words say "tf32" and "to 32f"
//
// What must not be said to cuBLASLt ends the process with a message.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dl/kit/cuda_driver.h"
#include "library/blaslt_api.h"

using namespace dl::cuda::blaslt;
namespace cuda = dl::kit::cuda;

struct dl::cuda::blaslt::HandleObject {
  dl::kit::cuda::Context context;
};
struct dl::cuda::blaslt::DescriptionObject {
  int compute, scale;
  int transpose[2] = {0, 0};
  int epilogue = 1;
  const void* bias = nullptr;
  int bias_type = -1;
};
struct dl::cuda::blaslt::LayoutObject {
  int type;
  uint64_t rows, columns;
  int64_t lead;
  int32_t batch = 1;
  int64_t step = 0;
};
struct dl::cuda::blaslt::PreferenceObject {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

constexpr int kInvalidValue = 7, kNotSupported = 15;
constexpr uint64_t kWorkspaceBytes = 4096;

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

dl::kit::CudaDriver& driver() {
  static dl::kit::CudaDriver found({setting("DL_CUDA_DRIVER")});
  return found;
}

void note(const std::string& line) {
  const std::string path = setting("FAKE_CUBLASLT_CALLS");
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "a");
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

int told_to_fail(const char* function) {
  const std::string list = "," + setting("FAKE_CUBLASLT_FAIL");
  const size_t at = list.find("," + std::string(function) + ":");
  return at == std::string::npos ? kSuccess
                                 : std::atoi(list.c_str() + at + std::strlen(function) + 2);
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fake cuBLASLt: %s\n", what);
  std::abort();
}

size_t bytes_of(int type) {
  require(type == kFloat32 || type == kFloat64 || type == kFloat16 || type == kBfloat16,
          "a data type that it does not know");
  return type == kFloat64 ? 8 : type == kFloat32 ? 4 : 2;
}

double number(int type, const char* at) {
  if (type == kFloat64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (type == kFloat32) {
    float value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  if (type == kFloat16) {
    _Float16 value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  const uint32_t bits = uint32_t{half} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

void put(int type, char* at, double value) {
  if (type == kFloat64) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == kFloat32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(at, &narrow, sizeof narrow);
  } else if (type == kFloat16) {
    const auto narrow = static_cast<_Float16>(value);
    std::memcpy(at, &narrow, sizeof narrow);
  } else {
    const auto narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    const auto half = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(at, &half, sizeof half);
  }
}

const char* name(int type) {
  return type == kFloat32 ? "32f" : type == kFloat64 ? "64f" : type == kFloat16 ? "16f" : "16bf";
}

// What tensor cores leave of a finite float: 11 digits.
double rounded_to_tf32(double value) {
  const auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return static_cast<double>(rounded);
}

void check_driver(int code, const char* what) {
  require(code == 0, (std::string(what) + ": " + driver().describe(code)).c_str());
}

// The bytes from the first to the last element of a batch.
size_t extent(const LayoutObject& layout) {
  const auto last = static_cast<int64_t>(layout.rows - 1) +
                    static_cast<int64_t>(layout.columns - 1) * layout.lead +
                    (layout.batch - 1) * layout.step;
  return (static_cast<size_t>(last) + 1) * bytes_of(layout.type);
}

std::vector<char> read(const void* from, size_t bytes, cuda::Stream stream) {
  std::vector<char> data(bytes);
  check_driver(driver().copy_to_host(data.data(), cuda::address_of(from), bytes, stream),
               "a matrix reaches beyond its memory");
  check_driver(driver().stream_synchronize(stream), "the stream");
  return data;
}

// The algorithm is for these alone: another product with it is undefined.
struct Problem {
  uint64_t digest, workspace;
  uint32_t alignment[4];
};

uint64_t digest(const DescriptionObject& d, std::initializer_list<const LayoutObject*> layouts) {
  uint64_t hash = 1469598103934665603u;
  const auto add = [&](uint64_t part) { hash = (hash ^ part) * 1099511628211u; };
  for (const int part : {d.compute, d.scale, d.transpose[0], d.transpose[1], d.epilogue})
    add(static_cast<uint64_t>(part));
  for (const LayoutObject* l : layouts) {
    for (const uint64_t part :
         {l->rows, l->columns, static_cast<uint64_t>(l->lead), static_cast<uint64_t>(l->batch),
          static_cast<uint64_t>(l->step), static_cast<uint64_t>(l->type)})
      add(part);
  }
  return hash;
}

void check_problem(const DescriptionObject& d, const LayoutObject& a, const LayoutObject& b,
                   const LayoutObject& c, const LayoutObject& out) {
  const uint64_t m = d.transpose[0] != 0 ? a.columns : a.rows;
  const uint64_t k = d.transpose[0] != 0 ? a.rows : a.columns;
  const uint64_t other = d.transpose[1] != 0 ? b.columns : b.rows;
  const uint64_t n = d.transpose[1] != 0 ? b.rows : b.columns;
  require(k == other && out.rows == m && out.columns == n, "sizes that do not fit");
  require(c.rows == m && c.columns == n && c.lead == out.lead, "c is not as d");
  for (const LayoutObject* l : {&a, &b, &c, &out}) {
    require(l->rows > 0 && l->columns > 0, "an empty matrix");
    require(l->lead >= static_cast<int64_t>(l->rows), "a leading dimension below the rows");
    require(l->batch == a.batch, "batches of different lengths");
  }
  const bool half = a.type == kFloat16 || a.type == kBfloat16;
  require(b.type == a.type && c.type == out.type, "dtypes that differ");
  require(out.type == a.type || (half && out.type == kFloat32), "another dtype of the result");
  require(out.batch == 1 || out.step != 0, "results of a batch in one place");
  const bool wide = a.type == kFloat64;
  require(d.compute == (wide ? kComputeFloat64 : kComputeFloat32) ||
              (d.compute == kComputeTf32 && a.type == kFloat32),
          "another compute type");
  require(d.scale == (wide ? kFloat64 : kFloat32), "another type of alpha and beta");
  require(d.epilogue == 1 || d.epilogue == kEpilogueBias, "an epilogue that it does not know");
  require(d.epilogue == 1 || (d.bias != nullptr && d.bias_type == out.type),
          "no bias of that type");
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int code = told_to_fail(#function)) return code

FAKE int cublasLtCreate(Handle* made) {
  ENTER(cublasLtCreate);
  *made = new HandleObject;
  check_driver(driver().context_current(&(*made)->context), "cuCtxGetCurrent");
  require((*made)->context != nullptr, "a handle without a current device");
  note("cublasLtCreate");
  return kSuccess;
}
FAKE int cublasLtDestroy(Handle handle) {
  delete handle;
  return kSuccess;
}
FAKE int cublasLtMatmulDescCreate(Description* made, int compute, int scale) {
  ENTER(cublasLtMatmulDescCreate);
  *made = new DescriptionObject{compute, scale};
  return kSuccess;
}
FAKE int cublasLtMatmulDescDestroy(Description one) {
  delete one;
  return kSuccess;
}
FAKE int cublasLtMatmulDescSetAttribute(Description one, int attribute, const void* value,
                                        size_t size) {
  void* to = nullptr;
  size_t wanted = sizeof(int);
  if (attribute == kTransposeA || attribute == kTransposeB)
    to = &one->transpose[attribute - kTransposeA];
  if (attribute == kEpilogue) to = &one->epilogue;
  if (attribute == kBiasType) to = &one->bias_type;
  if (attribute == kBiasPointer) {
    to = &one->bias;
    wanted = sizeof(void*);
  }
  if (to == nullptr || size != wanted) return kInvalidValue;
  std::memcpy(to, value, size);
  return kSuccess;
}
FAKE int cublasLtMatrixLayoutCreate(Layout* made, int type, uint64_t rows, uint64_t columns,
                                    int64_t lead) {
  ENTER(cublasLtMatrixLayoutCreate);
  *made = new LayoutObject{type, rows, columns, lead};
  return kSuccess;
}
FAKE int cublasLtMatrixLayoutDestroy(Layout one) {
  delete one;
  return kSuccess;
}
FAKE int cublasLtMatrixLayoutSetAttribute(Layout one, int attribute, const void* value,
                                          size_t size) {
  if (attribute == kBatchCount && size == sizeof one->batch) {
    std::memcpy(&one->batch, value, size);
  } else if (attribute == kBatchOffset && size == sizeof one->step) {
    std::memcpy(&one->step, value, size);
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}
FAKE int cublasLtMatmulPreferenceCreate(Preference* made) {
  *made = new PreferenceObject;
  return kSuccess;
}
FAKE int cublasLtMatmulPreferenceDestroy(Preference one) {
  delete one;
  return kSuccess;
}
FAKE int cublasLtMatmulPreferenceSetAttribute(Preference one, int attribute, const void* value,
                                              size_t size) {
  if (attribute == kMaxWorkspace && size == sizeof one->workspace) {
    std::memcpy(&one->workspace, value, size);
  } else if (attribute >= kAlignmentA && attribute <= kAlignmentD && size == sizeof(uint32_t)) {
    std::memcpy(&one->alignment[attribute - kAlignmentA], value, size);
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}

FAKE int cublasLtMatmulAlgoGetHeuristic(Handle, Description d, Layout a, Layout b, Layout c,
                                        Layout out, Preference preference, int asked,
                                        Heuristic* found, int* count) {
  ENTER(cublasLtMatmulAlgoGetHeuristic);
  note("cublasLtMatmulAlgoGetHeuristic");
  check_problem(*d, *a, *b, *c, *out);
  require(asked > 0, "no algorithm is asked for");
  *count = 0;
  if (preference->workspace < kWorkspaceBytes) return kNotSupported;
  Problem problem{digest(*d, {a, b, c, out}), kWorkspaceBytes, {}};
  std::memcpy(problem.alignment, preference->alignment, sizeof problem.alignment);
  static_assert(sizeof problem <= sizeof found->algorithm, "the algorithm has no room for it");
  *found = {};
  std::memcpy(&found->algorithm, &problem, sizeof problem);
  found->workspace = kWorkspaceBytes;
  *count = 1;
  return kSuccess;
}

FAKE int cublasLtMatmul(Handle handle, Description d, const void* alpha, const void* a_data,
                        Layout a, const void* b_data, Layout b, const void* beta,
                        const void* c_data, Layout c, void* out_data, Layout out,
                        const Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                        void* stream_pointer) {
  ENTER(cublasLtMatmul);
  check_problem(*d, *a, *b, *c, *out);
  Problem problem;
  std::memcpy(&problem, algorithm, sizeof problem);
  require(problem.digest == digest(*d, {a, b, c, out}), "the algorithm is another product's");
  const void* const places[] = {a_data, b_data, c_data, out_data};
  for (int i = 0; i < 4; ++i) {
    require(places[i] != nullptr, "a matrix that is NULL");
    require(cuda::address_of(places[i]) % problem.alignment[i] == 0, "a matrix is not aligned");
  }
  require(workspace != nullptr && workspace_bytes >= problem.workspace, "too little workspace");
  require(cuda::address_of(workspace) % 16 == 0, "the workspace is not aligned");
  cuda::Context now = nullptr;
  check_driver(driver().context_current(&now), "cuCtxGetCurrent");
  require(now == handle->context, "the handle is another device's");
  const auto stream = static_cast<cuda::Stream>(stream_pointer);
  check_driver(driver().set_bytes(cuda::address_of(workspace), 0x5a, workspace_bytes, stream),
               "the workspace is shorter than was said");

  const int type = a->type, out_type = out->type;
  const size_t out_bytes = bytes_of(out_type);
  const uint64_t m = out->rows, n = out->columns;
  const uint64_t k = d->transpose[0] != 0 ? a->rows : a->columns;
  const double scale = number(d->scale, static_cast<const char*>(alpha));
  const double kept = number(d->scale, static_cast<const char*>(beta));
  const std::vector<char> left = read(a_data, extent(*a), stream);
  const std::vector<char> right = read(b_data, extent(*b), stream);
  std::vector<char> result = read(out_data, extent(*out), stream);
  std::vector<char> bias;
  if (d->epilogue == kEpilogueBias) bias = read(d->bias, m * out_bytes, stream);
  const auto element = [&](const std::vector<char>& of, const LayoutObject& l, int transposed,
                           int64_t batch, uint64_t row, uint64_t column) {
    if (transposed != 0) std::swap(row, column);
    const auto at =
        batch * l.step + static_cast<int64_t>(column) * l.lead + static_cast<int64_t>(row);
    const double value = number(l.type, of.data() + static_cast<size_t>(at) * bytes_of(l.type));
    return d->compute == kComputeTf32 && &l != out ? rounded_to_tf32(value) : value;
  };
  for (int64_t batch = 0; batch < out->batch; ++batch) {
    for (uint64_t column = 0; column < n; ++column) {
      for (uint64_t row = 0; row < m; ++row) {
        double total = 0;
        for (uint64_t i = 0; i < k; ++i)
          total += element(left, *a, d->transpose[0], batch, row, i) *
                   element(right, *b, d->transpose[1], batch, i, column);
        total *= scale;
        if (kept != 0) total += kept * element(result, *out, 0, batch, row, column);
        if (!bias.empty()) total += number(out_type, bias.data() + row * out_bytes);
        const auto at = batch * out->step + static_cast<int64_t>(column) * out->lead +
                        static_cast<int64_t>(row);
        put(out_type, result.data() + static_cast<size_t>(at) * out_bytes, total);
      }
    }
  }
  check_driver(
      driver().copy_to_device(cuda::address_of(out_data), result.data(), result.size(), stream),
      "the result reaches beyond its memory");
  check_driver(driver().stream_synchronize(stream), "the stream");
  char line[160];
  std::snprintf(line, sizeof line, "cublasLtMatmul %s %lux%lux%lu batch %d %c%c%s%s%s", name(type),
                static_cast<unsigned long>(m), static_cast<unsigned long>(n),
                static_cast<unsigned long>(k), out->batch, d->transpose[0] != 0 ? 'T' : 'N',
                d->transpose[1] != 0 ? 'T' : 'N', bias.empty() ? "" : " bias",
                d->compute == kComputeTf32 ? " tf32" : "", out_type == type ? "" : " to 32f");
  note(line);
  return kSuccess;
}
