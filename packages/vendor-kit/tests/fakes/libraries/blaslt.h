// Shared code of the fakes of cuBLASLt and hipBLASLt: they check every argument against the
// vendors' documentation, and compute on the host with the driver's device memory. A fake includes
// this once, after these definitions in namespace fake:
//
//   checker                       a Fake, for settings and messages
//   Constants                     as in dl/kit/blaslt.h, and kInvalidValue, kNotSupported
//   struct Machine              static functions:
//     const void* current()     identifies the current device; null if none is current
//     Read read(from, bytes, stream), write(to, data, bytes, stream), fill(to, bytes, stream)
//                               access device memory and return when done
//   FAKE_BLASLT(function)       the name of a function: cublasLt##function
#ifndef FAKE_LIBRARIES_BLASLT_H_
#define FAKE_LIBRARIES_BLASLT_H_

#include <initializer_list>
#include <utility>
#include <vector>

#include "dl/kit/blaslt.h"
#include "elements.h"

#pragma GCC visibility push(hidden)

struct dl::kit::blaslt::HandleObject {
  const void* device;
};
struct dl::kit::blaslt::DescriptionObject {
  int compute, scale;
  int transpose[2] = {fake::Constants::kNotTransposed, fake::Constants::kNotTransposed};
  int epilogue = 1;
  const void* bias = nullptr;
  int bias_type = -1;
};
struct dl::kit::blaslt::LayoutObject {
  int type;
  uint64_t rows, columns;
  int64_t lead;
  int32_t batch = 1;
  int64_t step = 0;
};
struct dl::kit::blaslt::PreferenceObject {
  uint64_t workspace = 0;
  uint32_t reduction = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace fake {

using namespace dl::kit::blaslt;

constexpr uint64_t kWorkspaceBytes = 4096;

inline DType dtype_of(int type) {
  checker.require(type == Constants::kFloat32 || type == Constants::kFloat64 ||
                      type == Constants::kFloat16 || type == Constants::kBfloat16,
                  "an unknown data type");
  return type == Constants::kFloat32   ? DType::kFloat32
         : type == Constants::kFloat64 ? DType::kFloat64
         : type == Constants::kFloat16 ? DType::kFloat16
                                       : DType::kBfloat16;
}

inline bool is_transposed(const DescriptionObject& d, int operand) {
  const int operation = d.transpose[operand];
  checker.require(operation == Constants::kNotTransposed || operation == Constants::kTransposed,
                  "an unknown matrix operation");
  return operation == Constants::kTransposed;
}

// Bytes from the first to the last element of a batch.
inline size_t extent(const LayoutObject& layout) {
  const auto last = static_cast<int64_t>(layout.rows - 1) +
                    static_cast<int64_t>(layout.columns - 1) * layout.lead +
                    (layout.batch - 1) * layout.step;
  return (static_cast<size_t>(last) + 1) * bytes_of(dtype_of(layout.type));
}

// Identifies a product.
inline uint64_t digest(const DescriptionObject& d,
                       std::initializer_list<const LayoutObject*> layouts) {
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

// The matrix whose alignment an attribute sets; -1 for any other attribute.
template <class Of>
int alignment_of(int attribute) {
  if constexpr (Of::kUsesAlignment) {
    const int which = attribute - Of::kAlignmentA;
    return which < 4 ? which : -1;
  }
  return -1;
}

// Reduction schemes that are allowed by default, if the library does not restrict them.
constexpr uint32_t kAnyReduction = 7;
template <class Of>
bool is_of_reduction(int attribute) {
  if constexpr (Of::kUsesReductionScheme) return attribute == Of::kReductionSchemes;
  return false;
}
template <class Of>
uint32_t reduction_wanted() {
  if constexpr (Of::kUsesReductionScheme) return Of::kReducesInComputeType;
  return kAnyReduction;
}

// The product that an algorithm was chosen for: using it for another product is undefined.
// Alignments are powers of two up to 256.
struct Problem {
  uint64_t digest;
  uint8_t alignment[4];
};

inline void check_problem(const DescriptionObject& d, const LayoutObject& a, const LayoutObject& b,
                          const LayoutObject& c, const LayoutObject& out) {
  const uint64_t m = is_transposed(d, 0) ? a.columns : a.rows;
  const uint64_t k = is_transposed(d, 0) ? a.rows : a.columns;
  const uint64_t other = is_transposed(d, 1) ? b.columns : b.rows;
  const uint64_t n = is_transposed(d, 1) ? b.rows : b.columns;
  checker.require(k == other && out.rows == m && out.columns == n, "sizes that do not match");
  checker.require(c.rows == m && c.columns == n && c.lead == out.lead,
                  "c and d have different layouts");
  for (const LayoutObject* l : {&a, &b, &c, &out}) {
    checker.require(l->rows > 0 && l->columns > 0, "an empty matrix");
    checker.require(l->lead >= static_cast<int64_t>(l->rows), "a leading dimension below the rows");
    checker.require(l->batch == a.batch, "batches of different lengths");
  }
  const bool half = a.type == Constants::kFloat16 || a.type == Constants::kBfloat16;
  checker.require(b.type == a.type && c.type == out.type, "different dtypes");
  checker.require(out.type == a.type || (half && out.type == Constants::kFloat32),
                  "an unsupported dtype of the result");
  checker.require(out.batch == 1 || out.step != 0, "results of a batch at the same address");
  const bool wide = a.type == Constants::kFloat64;
  checker.require(d.compute == (wide ? Constants::kComputeFloat64 : Constants::kComputeFloat32) ||
                      (d.compute == Constants::kComputeTf32 && a.type == Constants::kFloat32),
                  "an unsupported compute type");
  checker.require(d.scale == (wide ? Constants::kFloat64 : Constants::kFloat32),
                  "an unsupported type of alpha and beta");
  checker.require(d.epilogue == 1 || d.epilogue == Constants::kEpilogueBias, "an unknown epilogue");
  checker.require(d.epilogue == 1 || (d.bias != nullptr && d.bias_type == out.type),
                  "a bias of an unsupported type");
}

}  // namespace fake

#pragma GCC visibility pop

#define FAKE extern "C" __attribute__((visibility("default")))
#define FAKE_TEXT(name) #name
#define FAKE_NAME(name) FAKE_TEXT(name)
#define ENTER(function)                                                                   \
  if (const int status = fake::checker.injected_status(FAKE_NAME(FAKE_BLASLT(function)))) \
  return status

FAKE int FAKE_BLASLT(Create)(fake::Handle* made) {
  ENTER(Create);
  *made = new fake::HandleObject{fake::Machine::current()};
  fake::checker.require((*made)->device != nullptr, "a handle without a current device");
  fake::checker.log_call(FAKE_NAME(FAKE_BLASLT(Create)));
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(Destroy)(fake::Handle handle) {
  delete handle;
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulDescCreate)(fake::Description* made, int compute, int scale) {
  ENTER(MatmulDescCreate);
  *made = new fake::DescriptionObject{compute, scale};
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulDescDestroy)(fake::Description one) {
  delete one;
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulDescSetAttribute)(fake::Description one, int attribute,
                                             const void* value, size_t size) {
  using fake::Constants;
  void* to = nullptr;
  size_t wanted = sizeof(int);
  if (attribute == Constants::kTransposeA) to = &one->transpose[0];
  if (attribute == Constants::kTransposeB) to = &one->transpose[1];
  if (attribute == Constants::kEpilogue) to = &one->epilogue;
  if (attribute == Constants::kBiasType) to = &one->bias_type;
  if (attribute == Constants::kBiasPointer) {
    to = &one->bias;
    wanted = sizeof(void*);
  }
  if (to == nullptr || size != wanted) return fake::kInvalidValue;
  std::memcpy(to, value, size);
  return Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatrixLayoutCreate)(fake::Layout* made, int type, uint64_t rows,
                                         uint64_t columns, int64_t lead) {
  ENTER(MatrixLayoutCreate);
  *made = new fake::LayoutObject{type, rows, columns, lead};
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatrixLayoutDestroy)(fake::Layout one) {
  delete one;
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatrixLayoutSetAttribute)(fake::Layout one, int attribute, const void* value,
                                               size_t size) {
  if (attribute == fake::Constants::kBatchCount && size == sizeof one->batch) {
    std::memcpy(&one->batch, value, size);
  } else if (attribute == fake::Constants::kBatchOffset && size == sizeof one->step) {
    std::memcpy(&one->step, value, size);
  } else {
    return fake::kInvalidValue;
  }
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulPreferenceCreate)(fake::Preference* made) {
  *made = new fake::PreferenceObject;
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulPreferenceDestroy)(fake::Preference one) {
  delete one;
  return fake::Constants::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulPreferenceSetAttribute)(fake::Preference one, int attribute,
                                                   const void* value, size_t size) {
  if (attribute == fake::Constants::kMaxWorkspace && size == sizeof one->workspace) {
    std::memcpy(&one->workspace, value, size);
    return fake::Constants::kSuccess;
  }
  if (fake::is_of_reduction<fake::Constants>(attribute) && size == sizeof one->reduction) {
    std::memcpy(&one->reduction, value, size);
    return fake::Constants::kSuccess;
  }
  const int which = fake::alignment_of<fake::Constants>(attribute);
  if (which >= 0 && size == sizeof(uint32_t)) {
    std::memcpy(&one->alignment[which], value, size);
    return fake::Constants::kSuccess;
  }
  return fake::kInvalidValue;
}

FAKE int FAKE_BLASLT(MatmulAlgoGetHeuristic)(
    fake::Handle, fake::Description d, fake::Layout a, fake::Layout b, fake::Layout c,
    fake::Layout out, fake::Preference preference, int asked,
    fake::Heuristic<fake::Constants::kAlgorithmBytes>* found, int* count) {
  ENTER(MatmulAlgoGetHeuristic);
  fake::checker.log_call(FAKE_NAME(FAKE_BLASLT(MatmulAlgoGetHeuristic)));
  fake::check_problem(*d, *a, *b, *c, *out);
  fake::checker.require(asked > 0, "no algorithm is requested");
  fake::checker.require(preference->reduction == fake::reduction_wanted<fake::Constants>(),
                        "sums may be rounded to the result's type before they are added up");
  *count = 0;
  if (preference->workspace < fake::kWorkspaceBytes) return fake::kNotSupported;
  // Like GPUs without TF32.
  if (d->compute == fake::Constants::kComputeTf32 && fake::checker.setting("TF32") == "off")
    return fake::kNotSupported;
  fake::Problem problem{fake::digest(*d, {a, b, c, out}), {}};
  for (int i = 0; i < 4; ++i) {
    // If the alignment cannot be passed, matrices may be aligned to their elements only.
    problem.alignment[i] = fake::Constants::kUsesAlignment
                               ? static_cast<uint8_t>(preference->alignment[i] - 1)
                               : uint8_t{0};
  }
  static_assert(sizeof problem <= sizeof found->algorithm, "it must fit in the algorithm");
  *found = {};
  std::memcpy(&found->algorithm, &problem, sizeof problem);
  found->workspace = fake::kWorkspaceBytes;
  *count = 1;
  return fake::Constants::kSuccess;
}

FAKE int FAKE_BLASLT(Matmul)(fake::Handle handle, fake::Description d, const void* alpha,
                             const void* a_data, fake::Layout a, const void* b_data, fake::Layout b,
                             const void* beta, const void* c_data, fake::Layout c, void* out_data,
                             fake::Layout out,
                             const fake::Algorithm<fake::Constants::kAlgorithmBytes>* algorithm,
                             void* workspace, size_t workspace_bytes, void* stream) {
  ENTER(Matmul);
  using namespace fake;
  check_problem(*d, *a, *b, *c, *out);
  Problem problem;
  std::memcpy(&problem, algorithm, sizeof problem);
  fake::checker.require(problem.digest == digest(*d, {a, b, c, out}),
                        "the algorithm was chosen for another product");
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const void* const places[] = {a_data, b_data, c_data, out_data};
  for (int i = 0; i < 4; ++i) {
    fake::checker.require(places[i] != nullptr, "a matrix that is NULL");
    fake::checker.require((address(places[i]) & problem.alignment[i]) == 0,
                          "a matrix is not aligned");
  }
  fake::checker.require(workspace != nullptr && workspace_bytes >= kWorkspaceBytes,
                        "too little workspace");
  fake::checker.require(address(workspace) % 16 == 0, "the workspace is not aligned");
  fake::checker.require(Machine::current() == handle->device,
                        "the handle belongs to another device");
  Machine::fill(workspace, workspace_bytes, stream);

  const DType type = dtype_of(a->type), out_type = dtype_of(out->type);
  const DType scale_type = dtype_of(d->scale);
  const size_t out_bytes = bytes_of(out_type);
  const uint64_t m = out->rows, n = out->columns;
  const uint64_t k = is_transposed(*d, 0) ? a->rows : a->columns;
  const double scale = load(scale_type, static_cast<const char*>(alpha));
  const double kept = load(scale_type, static_cast<const char*>(beta));
  const std::vector<char> left = Machine::read(a_data, extent(*a), stream);
  const std::vector<char> right = Machine::read(b_data, extent(*b), stream);
  std::vector<char> result = Machine::read(out_data, extent(*out), stream);
  std::vector<char> bias;
  if (d->epilogue == Constants::kEpilogueBias) bias = Machine::read(d->bias, m * out_bytes, stream);
  const bool rounds = d->compute == Constants::kComputeTf32;
  const auto element = [&](const std::vector<char>& of, const LayoutObject& l, bool transposed,
                           int64_t batch, uint64_t row, uint64_t column) {
    if (transposed) std::swap(row, column);
    const auto at =
        batch * l.step + static_cast<int64_t>(column) * l.lead + static_cast<int64_t>(row);
    const DType its = dtype_of(l.type);
    const double value = load(its, of.data() + static_cast<size_t>(at) * bytes_of(its));
    return rounds && &l != out ? rounded_to_tf32(value) : value;
  };
  for (int64_t batch = 0; batch < out->batch; ++batch) {
    for (uint64_t column = 0; column < n; ++column) {
      for (uint64_t row = 0; row < m; ++row) {
        double total = 0;
        for (uint64_t i = 0; i < k; ++i)
          total += element(left, *a, is_transposed(*d, 0), batch, row, i) *
                   element(right, *b, is_transposed(*d, 1), batch, i, column);
        total *= scale;
        if (kept != 0) total += kept * element(result, *out, false, batch, row, column);
        if (!bias.empty()) total += load(out_type, bias.data() + row * out_bytes);
        const auto at = batch * out->step + static_cast<int64_t>(column) * out->lead +
                        static_cast<int64_t>(row);
        store(out_type, result.data() + static_cast<size_t>(at) * out_bytes, total);
      }
    }
  }
  Machine::write(out_data, result, stream);
  const auto text = [](uint64_t size) { return std::to_string(size); };
  fake::checker.log_call(std::string(FAKE_NAME(FAKE_BLASLT(Matmul)) " ") + name_of(type) + " " +
                         text(m) + "x" + text(n) + "x" + text(k) + " batch " +
                         std::to_string(out->batch) + " " + (is_transposed(*d, 0) ? "T" : "N") +
                         (is_transposed(*d, 1) ? "T" : "N") + (bias.empty() ? "" : " bias") +
                         (rounds ? " tf32" : "") + (out_type == type ? "" : " to 32f"));
  return Constants::kSuccess;
}

#endif  // FAKE_LIBRARIES_BLASLT_H_
