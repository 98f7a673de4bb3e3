// What fakes of cuBLASLt and hipBLASLt have in common: they judge every argument as the makers'
// documentation has it, and compute on the host with memory that a driver holds. A fake includes
// this once, after it has said in namespace fake:
//
//   judge                       a Fake, for settings and messages
//   Numbers                     as dl/kit/blaslt.h has them, and kInvalidValue, kNotSupported
//   struct Machine              static functions:
//     const void* current()     what tells the current device from others; null: none is
//     Read read(from, bytes, stream), write(to, data, bytes, stream), fill(to, bytes, stream)
//                               of the device's memory; they return when it is done
//   FAKE_BLASLT(function)       the name of a function: cublasLt##function
#ifndef FAKE_LIBRARIES_BLASLT_H_
#define FAKE_LIBRARIES_BLASLT_H_

#include <initializer_list>
#include <utility>
#include <vector>

#include "dl/kit/blaslt.h"
#include "numbers.h"

#pragma GCC visibility push(hidden)

struct dl::kit::blaslt::HandleObject {
  const void* device;
};
struct dl::kit::blaslt::DescriptionObject {
  int compute, scale;
  int transpose[2] = {fake::Numbers::kAsItIs, fake::Numbers::kAsItIs};
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

inline Number number_of(int type) {
  judge.require(type == Numbers::kFloat32 || type == Numbers::kFloat64 ||
                    type == Numbers::kFloat16 || type == Numbers::kBfloat16,
                "a data type that it does not know");
  return type == Numbers::kFloat32   ? Number::kFloat32
         : type == Numbers::kFloat64 ? Number::kFloat64
         : type == Numbers::kFloat16 ? Number::kFloat16
                                     : Number::kBfloat16;
}

inline bool is_turned(const DescriptionObject& d, int operand) {
  const int said = d.transpose[operand];
  judge.require(said == Numbers::kAsItIs || said == Numbers::kTransposed,
                "an operation on a matrix that it does not know");
  return said == Numbers::kTransposed;
}

// The bytes from the first to the last element of a batch.
inline size_t extent(const LayoutObject& layout) {
  const auto last = static_cast<int64_t>(layout.rows - 1) +
                    static_cast<int64_t>(layout.columns - 1) * layout.lead +
                    (layout.batch - 1) * layout.step;
  return (static_cast<size_t>(last) + 1) * bytes_of(number_of(layout.type));
}

// Which product this is.
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

// Of which matrix an attribute says how it is aligned; -1: it is another attribute.
template <class Of>
int alignment_of(int attribute) {
  if constexpr (Of::kAsksForAlignment) {
    const int which = attribute - Of::kAlignmentA;
    return which < 4 ? which : -1;
  }
  return -1;
}

// How parts of a sum may be added up; libraries that do not ask for it have any.
constexpr uint32_t kAnyReduction = 7;
template <class Of>
bool is_of_reduction(int attribute) {
  if constexpr (Of::kAsksForReduction) return attribute == Of::kReductionSchemes;
  return false;
}
template <class Of>
uint32_t reduction_wanted() {
  if constexpr (Of::kAsksForReduction) return Of::kReducesInComputeType;
  return kAnyReduction;
}

// The algorithm is for these alone: another product with it is undefined. Alignments are powers of
// two, of 256 at most.
struct Problem {
  uint64_t digest;
  uint8_t alignment[4];
};

inline void check_problem(const DescriptionObject& d, const LayoutObject& a, const LayoutObject& b,
                          const LayoutObject& c, const LayoutObject& out) {
  const uint64_t m = is_turned(d, 0) ? a.columns : a.rows;
  const uint64_t k = is_turned(d, 0) ? a.rows : a.columns;
  const uint64_t other = is_turned(d, 1) ? b.columns : b.rows;
  const uint64_t n = is_turned(d, 1) ? b.rows : b.columns;
  judge.require(k == other && out.rows == m && out.columns == n, "sizes that do not fit");
  judge.require(c.rows == m && c.columns == n && c.lead == out.lead, "c is not as d");
  for (const LayoutObject* l : {&a, &b, &c, &out}) {
    judge.require(l->rows > 0 && l->columns > 0, "an empty matrix");
    judge.require(l->lead >= static_cast<int64_t>(l->rows), "a leading dimension below the rows");
    judge.require(l->batch == a.batch, "batches of different lengths");
  }
  const bool half = a.type == Numbers::kFloat16 || a.type == Numbers::kBfloat16;
  judge.require(b.type == a.type && c.type == out.type, "dtypes that differ");
  judge.require(out.type == a.type || (half && out.type == Numbers::kFloat32),
                "another dtype of the result");
  judge.require(out.batch == 1 || out.step != 0, "results of a batch in one place");
  const bool wide = a.type == Numbers::kFloat64;
  judge.require(d.compute == (wide ? Numbers::kComputeFloat64 : Numbers::kComputeFloat32) ||
                    (d.compute == Numbers::kComputeTf32 && a.type == Numbers::kFloat32),
                "another compute type");
  judge.require(d.scale == (wide ? Numbers::kFloat64 : Numbers::kFloat32),
                "another type of alpha and beta");
  judge.require(d.epilogue == 1 || d.epilogue == Numbers::kEpilogueBias,
                "an epilogue that it does not know");
  judge.require(d.epilogue == 1 || (d.bias != nullptr && d.bias_type == out.type),
                "no bias of that type");
}

}  // namespace fake

#pragma GCC visibility pop

#define FAKE extern "C" __attribute__((visibility("default")))
#define FAKE_TEXT(name) #name
#define FAKE_NAME(name) FAKE_TEXT(name)
#define ENTER(function) \
  if (const int status = fake::judge.told_to_fail(FAKE_NAME(FAKE_BLASLT(function)))) return status

FAKE int FAKE_BLASLT(Create)(fake::Handle* made) {
  ENTER(Create);
  *made = new fake::HandleObject{fake::Machine::current()};
  fake::judge.require((*made)->device != nullptr, "a handle without a current device");
  fake::judge.note(FAKE_NAME(FAKE_BLASLT(Create)));
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(Destroy)(fake::Handle handle) {
  delete handle;
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulDescCreate)(fake::Description* made, int compute, int scale) {
  ENTER(MatmulDescCreate);
  *made = new fake::DescriptionObject{compute, scale};
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulDescDestroy)(fake::Description one) {
  delete one;
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulDescSetAttribute)(fake::Description one, int attribute,
                                             const void* value, size_t size) {
  using fake::Numbers;
  void* to = nullptr;
  size_t wanted = sizeof(int);
  if (attribute == Numbers::kTransposeA) to = &one->transpose[0];
  if (attribute == Numbers::kTransposeB) to = &one->transpose[1];
  if (attribute == Numbers::kEpilogue) to = &one->epilogue;
  if (attribute == Numbers::kBiasType) to = &one->bias_type;
  if (attribute == Numbers::kBiasPointer) {
    to = &one->bias;
    wanted = sizeof(void*);
  }
  if (to == nullptr || size != wanted) return fake::kInvalidValue;
  std::memcpy(to, value, size);
  return Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatrixLayoutCreate)(fake::Layout* made, int type, uint64_t rows,
                                         uint64_t columns, int64_t lead) {
  ENTER(MatrixLayoutCreate);
  *made = new fake::LayoutObject{type, rows, columns, lead};
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatrixLayoutDestroy)(fake::Layout one) {
  delete one;
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatrixLayoutSetAttribute)(fake::Layout one, int attribute, const void* value,
                                               size_t size) {
  if (attribute == fake::Numbers::kBatchCount && size == sizeof one->batch) {
    std::memcpy(&one->batch, value, size);
  } else if (attribute == fake::Numbers::kBatchOffset && size == sizeof one->step) {
    std::memcpy(&one->step, value, size);
  } else {
    return fake::kInvalidValue;
  }
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulPreferenceCreate)(fake::Preference* made) {
  *made = new fake::PreferenceObject;
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulPreferenceDestroy)(fake::Preference one) {
  delete one;
  return fake::Numbers::kSuccess;
}
FAKE int FAKE_BLASLT(MatmulPreferenceSetAttribute)(fake::Preference one, int attribute,
                                                   const void* value, size_t size) {
  if (attribute == fake::Numbers::kMaxWorkspace && size == sizeof one->workspace) {
    std::memcpy(&one->workspace, value, size);
    return fake::Numbers::kSuccess;
  }
  if (fake::is_of_reduction<fake::Numbers>(attribute) && size == sizeof one->reduction) {
    std::memcpy(&one->reduction, value, size);
    return fake::Numbers::kSuccess;
  }
  const int which = fake::alignment_of<fake::Numbers>(attribute);
  if (which >= 0 && size == sizeof(uint32_t)) {
    std::memcpy(&one->alignment[which], value, size);
    return fake::Numbers::kSuccess;
  }
  return fake::kInvalidValue;
}

FAKE int FAKE_BLASLT(MatmulAlgoGetHeuristic)(fake::Handle, fake::Description d, fake::Layout a,
                                             fake::Layout b, fake::Layout c, fake::Layout out,
                                             fake::Preference preference, int asked,
                                             fake::Heuristic<fake::Numbers::kAlgorithmBytes>* found,
                                             int* count) {
  ENTER(MatmulAlgoGetHeuristic);
  fake::judge.note(FAKE_NAME(FAKE_BLASLT(MatmulAlgoGetHeuristic)));
  fake::check_problem(*d, *a, *b, *c, *out);
  fake::judge.require(asked > 0, "no algorithm is asked for");
  fake::judge.require(preference->reduction == fake::reduction_wanted<fake::Numbers>(),
                      "sums may be rounded to the result's type before they are added up");
  *count = 0;
  if (preference->workspace < fake::kWorkspaceBytes) return fake::kNotSupported;
  // As on cards that know no such products.
  if (d->compute == fake::Numbers::kComputeTf32 && fake::judge.told("TF32") == "off")
    return fake::kNotSupported;
  fake::Problem problem{fake::digest(*d, {a, b, c, out}), {}};
  for (int i = 0; i < 4; ++i) {
    // Where it cannot be told, any element may be anywhere.
    problem.alignment[i] = fake::Numbers::kAsksForAlignment
                               ? static_cast<uint8_t>(preference->alignment[i] - 1)
                               : uint8_t{0};
  }
  static_assert(sizeof problem <= sizeof found->algorithm, "the algorithm has no room for it");
  *found = {};
  std::memcpy(&found->algorithm, &problem, sizeof problem);
  found->workspace = fake::kWorkspaceBytes;
  *count = 1;
  return fake::Numbers::kSuccess;
}

FAKE int FAKE_BLASLT(Matmul)(fake::Handle handle, fake::Description d, const void* alpha,
                             const void* a_data, fake::Layout a, const void* b_data, fake::Layout b,
                             const void* beta, const void* c_data, fake::Layout c, void* out_data,
                             fake::Layout out,
                             const fake::Algorithm<fake::Numbers::kAlgorithmBytes>* algorithm,
                             void* workspace, size_t workspace_bytes, void* stream) {
  ENTER(Matmul);
  using namespace fake;
  check_problem(*d, *a, *b, *c, *out);
  Problem problem;
  std::memcpy(&problem, algorithm, sizeof problem);
  fake::judge.require(problem.digest == digest(*d, {a, b, c, out}),
                      "the algorithm is another product's");
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const void* const places[] = {a_data, b_data, c_data, out_data};
  for (int i = 0; i < 4; ++i) {
    fake::judge.require(places[i] != nullptr, "a matrix that is NULL");
    fake::judge.require((address(places[i]) & problem.alignment[i]) == 0,
                        "a matrix is not aligned");
  }
  fake::judge.require(workspace != nullptr && workspace_bytes >= kWorkspaceBytes,
                      "too little workspace");
  fake::judge.require(address(workspace) % 16 == 0, "the workspace is not aligned");
  fake::judge.require(Machine::current() == handle->device, "the handle is another device's");
  Machine::fill(workspace, workspace_bytes, stream);

  const Number type = number_of(a->type), out_type = number_of(out->type);
  const Number scale_type = number_of(d->scale);
  const size_t out_bytes = bytes_of(out_type);
  const uint64_t m = out->rows, n = out->columns;
  const uint64_t k = is_turned(*d, 0) ? a->rows : a->columns;
  const double scale = number(scale_type, static_cast<const char*>(alpha));
  const double kept = number(scale_type, static_cast<const char*>(beta));
  const std::vector<char> left = Machine::read(a_data, extent(*a), stream);
  const std::vector<char> right = Machine::read(b_data, extent(*b), stream);
  std::vector<char> result = Machine::read(out_data, extent(*out), stream);
  std::vector<char> bias;
  if (d->epilogue == Numbers::kEpilogueBias) bias = Machine::read(d->bias, m * out_bytes, stream);
  const bool rounds = d->compute == Numbers::kComputeTf32;
  const auto element = [&](const std::vector<char>& of, const LayoutObject& l, bool transposed,
                           int64_t batch, uint64_t row, uint64_t column) {
    if (transposed) std::swap(row, column);
    const auto at =
        batch * l.step + static_cast<int64_t>(column) * l.lead + static_cast<int64_t>(row);
    const Number its = number_of(l.type);
    const double value = number(its, of.data() + static_cast<size_t>(at) * bytes_of(its));
    return rounds && &l != out ? rounded_to_tf32(value) : value;
  };
  for (int64_t batch = 0; batch < out->batch; ++batch) {
    for (uint64_t column = 0; column < n; ++column) {
      for (uint64_t row = 0; row < m; ++row) {
        double total = 0;
        for (uint64_t i = 0; i < k; ++i)
          total += element(left, *a, is_turned(*d, 0), batch, row, i) *
                   element(right, *b, is_turned(*d, 1), batch, i, column);
        total *= scale;
        if (kept != 0) total += kept * element(result, *out, false, batch, row, column);
        if (!bias.empty()) total += number(out_type, bias.data() + row * out_bytes);
        const auto at = batch * out->step + static_cast<int64_t>(column) * out->lead +
                        static_cast<int64_t>(row);
        put(out_type, result.data() + static_cast<size_t>(at) * out_bytes, total);
      }
    }
  }
  Machine::write(out_data, result, stream);
  const auto text = [](uint64_t size) { return std::to_string(size); };
  fake::judge.note(std::string(FAKE_NAME(FAKE_BLASLT(Matmul)) " ") + name_of(type) + " " + text(m) +
                   "x" + text(n) + "x" + text(k) + " batch " + std::to_string(out->batch) + " " +
                   (is_turned(*d, 0) ? "T" : "N") + (is_turned(*d, 1) ? "T" : "N") +
                   (bias.empty() ? "" : " bias") + (rounds ? " tf32" : "") +
                   (out_type == type ? "" : " to 32f"));
  return Numbers::kSuccess;
}

#endif  // FAKE_LIBRARIES_BLASLT_H_
