#include "library/convolution_plan.h"

#include <algorithm>
#include <string>

#include "diopi/types.gen.h"
#include "dl/kit/library_calls.h"

namespace dl::cuda::cudnn {
namespace {

constexpr int64_t kMostWorkspace = int64_t{256} << 20;
constexpr int64_t kMostConfigs = 64, kMostNotes = 32, kMostKnobs = 16;

// Identifiers of the tensors of a graph.
enum Id : int64_t { kInputId = 1, kWeightId, kOutputId };

// The operation's own attributes.
struct Names {
  int kind, alpha, beta, convolution, weight, input, output;
};
Names names_of(Direction direction) {
  switch (direction) {
    case Direction::kForward:
      return {kForward,       kForwardAlpha, kForwardBeta,  kForwardConvolution,
              kForwardWeight, kForwardInput, kForwardOutput};
    case Direction::kInputGradient:
      return {
          kInputGradient,       kInputGradientAlpha, kInputGradientBeta,  kInputGradientConvolution,
          kInputGradientWeight, kInputGradientInput, kInputGradientOutput};
    default:
      return {kWeightGradient,       kWeightGradientAlpha,
              kWeightGradientBeta,   kWeightGradientConvolution,
              kWeightGradientWeight, kWeightGradientInput,
              kWeightGradientOutput};
  }
}

// Returns true if results are deterministic sums of products in the accumulation type of our own
// kernels. FFT and Winograd transforms have a different error: it is small relative to the largest
// element, not relative to each element.
bool is_precise(const std::vector<int>& notes, int type) {
  for (const int note : notes) {
    switch (note) {
      case kTensorCore:  // multiplies float32 as TF32
        if (type == kFloat32) return false;
        break;
      case kDownConverted:
      case kReducedSums:
      case kFft:
      case kNondeterministic:
      case kWinograd:
      case kWinograd4x4:
      case kWinograd6x6:
      case kWinograd13x13:
        return false;
      default:
        break;
    }
  }
  return true;
}

// Returns false if the notes are not available.
bool read_notes(const OwnedDescriptor& config, std::vector<int>* notes) {
  const OwnedDescriptor engine(kEngine);
  Descriptor object = engine.get();
  int64_t count = 0;
  notes->resize(kMostNotes);
  if (!engine.good() ||
      library()->get(config.get(), kConfigEngine, kDescriptorType, 1, &count, &object) !=
          kSuccess ||
      library()->get(object, kEngineNotes, kNoteType, kMostNotes, &count, notes->data()) !=
          kSuccess)
    return false;
  notes->resize(static_cast<size_t>(std::min(count, kMostNotes)));
  return true;
}

using Descriptors = std::vector<std::unique_ptr<OwnedDescriptor>>;

// Returns true if half precision partial sums are rounded before they are accumulated. Engines do
// not report this: an engine whose only choice is its workspace size accumulates partial sums in
// the result's type if it uses a workspace (cuDNN 9 on compute capability 9.0).
bool rounds_parts(const OwnedDescriptor& config) {
  Descriptors choices;
  std::vector<Descriptor> objects;
  for (int64_t i = 0; i < kMostKnobs; ++i) {
    choices.push_back(std::make_unique<OwnedDescriptor>(kKnobChoice));
    objects.push_back(choices.back()->get());
  }
  int64_t count = 0, value = 0;
  int knob = -1;
  const auto get = [](Descriptor from, int name, int type, int64_t most, int64_t* found, void* to) {
    return library()->get(from, name, type, most, found, to) == kSuccess;
  };
  if (!get(config.get(), kConfigKnobs, kDescriptorType, kMostKnobs, &count, objects.data()) ||
      count != 1)
    return false;
  return get(objects[0], kChoiceOfKnob, kKnobType, 1, &count, &knob) && knob == kWorkspaceKnob &&
         get(objects[0], kChoiceValue, kInt64Type, 1, &count, &value) && value > 0;
}

OwnedDescriptor& add(Descriptors* parts, int kind) {
  parts->push_back(std::make_unique<OwnedDescriptor>(kind));
  return *parts->back();
}

const OwnedDescriptor& add_tensor(Descriptors* parts, Id id, const Images& images, int dimensions) {
  return add(parts, kTensor)
      .set(kTensorId, int64_t{id})
      .set(kTensorType, kDataTypeType, type_of(images.dtype))
      .set(kTensorAlignment, kit::alignment_of(images.data))
      .set(kTensorSizes, kInt64Type, dimensions, images.sizes)
      .set(kTensorStrides, kInt64Type, dimensions, images.strides)
      .finish();
}

// Adds a graph that contains only the operation.
const OwnedDescriptor& add_graph(Descriptors* parts, Handle handle, const Convolution& call) {
  const int type = type_of(call.weight.dtype);
  const bool is_wide = type == kFloat64;
  const OwnedDescriptor& input = add_tensor(parts, kInputId, call.input, call.dimensions());
  const OwnedDescriptor& weight = add_tensor(parts, kWeightId, call.weight, call.dimensions());
  const OwnedDescriptor& output = add_tensor(parts, kOutputId, call.output, call.dimensions());
  const OwnedDescriptor& convolution =
      add(parts, kConvolutionDescriptor)
          .set(kSpatialDimensions, int64_t{call.axes})
          .set(kComputeType, kDataTypeType, is_wide ? kFloat64 : kFloat32)
          .set(kConvolutionMode, kConvolutionModeType, kCrossCorrelation)
          .set(kStrides, kInt64Type, call.axes, call.stride)
          .set(kDilations, kInt64Type, call.axes, call.dilation)
          .set(kPaddingBefore, kInt64Type, call.axes, call.before)
          .set(kPaddingAfter, kInt64Type, call.axes, call.after)
          .finish();
  const Names names = names_of(call.direction);
  const double wide[] = {1, call.prepare ? 1.0 : 0.0};
  const float narrow[] = {1, call.prepare ? 1.0F : 0.0F};
  const auto scale = [&](int i) {
    return is_wide ? static_cast<const void*>(&wide[i]) : &narrow[i];
  };
  const int scale_type = is_wide ? kDoubleType : kFloatType;
  const OwnedDescriptor& operation = add(parts, names.kind)
                                         .set(names.convolution, convolution)
                                         .set(names.input, input)
                                         .set(names.weight, weight)
                                         .set(names.output, output)
                                         .set(names.alpha, scale_type, 1, scale(0))
                                         .set(names.beta, scale_type, 1, scale(1))
                                         .finish();
  return add(parts, kGraph).set(kGraphHandle, handle).set(kGraphOperations, operation).finish();
}

// Returns the configurations of one heuristic mode, the best one first; empty if there are none.
Descriptors configs_of(const OwnedDescriptor& graph, int mode) {
  OwnedDescriptor heuristics(kHeuristics);
  heuristics.set(kHeuristicGraph, graph).set(kHeuristicMode, kHeuristicModeType, mode).finish();
  if (!heuristics.good()) return {};
  const auto read = [&](int64_t most, int64_t* count, Descriptor* to) {
    return library()->get(heuristics.get(), kHeuristicResults, kDescriptorType, most, count, to);
  };
  int64_t count = 0;  // an upper bound until the second query
  if (read(0, &count, nullptr) != kSuccess) return {};
  Descriptors configs;
  std::vector<Descriptor> objects;
  while (static_cast<int64_t>(configs.size()) < std::min(count, kMostConfigs)) {
    if (!add(&configs, kEngineConfig).good()) return {};
    objects.push_back(configs.back()->get());
  }
  if (objects.empty() ||
      read(static_cast<int64_t>(objects.size()), &count, objects.data()) != kSuccess)
    return {};
  configs.resize(std::min(static_cast<size_t>(count), configs.size()));
  return configs;
}

}  // namespace

OwnedDescriptor::OwnedDescriptor(int kind) : status_(library()->descriptor(kind, &object_)) {
  if (status_ != kSuccess) object_ = nullptr;
}

OwnedDescriptor::~OwnedDescriptor() {
  if (object_ != nullptr) (void)library()->destroy(object_);
}

OwnedDescriptor& OwnedDescriptor::set(int name, int type, int64_t count, const void* values) {
  if (good()) status_ = library()->set(object_, name, type, count, values);
  return *this;
}

OwnedDescriptor& OwnedDescriptor::set(int name, const OwnedDescriptor& part) {
  if (good()) status_ = part.status_;
  const Descriptor object = part.object_;
  return set(name, kDescriptorType, 1, &object);
}

OwnedDescriptor& OwnedDescriptor::finish() {
  if (good()) status_ = library()->finalize(object_);
  return *this;
}

Plan Plan::make(Handle handle, const Convolution& call) {
  Plan made;
  const OwnedDescriptor& graph = add_graph(&made.parts_, handle, call);
  if (!graph.good()) return {};
  for (const int mode : {kModeA, kFallbackMode}) {
    for (auto& config : configs_of(graph, mode)) {
      std::vector<int> notes;
      const int type = type_of(call.weight.dtype);
      const bool half = type == kFloat16 || type == kBfloat16;
      if (!read_notes(*config, &notes) || !is_precise(notes, type) ||
          (half && rounds_parts(*config)))
        continue;
      auto plan = std::make_unique<OwnedDescriptor>(kPlan);
      plan->set(kPlanHandle, handle).set(kPlanConfig, *config).finish();
      int64_t count = 0, bytes = 0;
      if (!plan->good() ||
          library()->get(plan->get(), kPlanWorkspace, kInt64Type, 1, &count, &bytes) != kSuccess ||
          bytes > kMostWorkspace)
        continue;
      made.workspace_ = bytes;
      made.plan_ = plan.get();
      made.parts_.push_back(std::move(config));
      made.parts_.push_back(std::move(plan));
      return made;
    }
  }
  return {};
}

bool Plan::run(Handle handle, const Convolution& call) const {
  const auto check = [](int status, const char* function) {
    kit::check_convolution(*library(), status, function, "cuDNN", "DL_CUDA_LIBRARIES");
  };
  check(library()->set_stream(handle, call.stream), "cudnnSetStream");
  void* const workspace = workspace_ == 0 ? nullptr : call.workspace(workspace_);
  if (call.prepare) call.prepare();
  const int64_t ids[] = {kInputId, kWeightId, kOutputId};
  const void* const data[] = {call.input.data, call.weight.data, call.output.data};
  OwnedDescriptor pack(kVariantPack);
  pack.set(kPackIds, kInt64Type, 3, ids)
      .set(kPackPointers, kPointerType, 3, data)
      .set(kPackWorkspace, kPointerType, 1, &workspace)
      .finish();
  check(pack.status(), "cudnnBackendFinalize");
  const int status = library()->execute(handle, plan_->get(), pack.get());
  declined_ = status >= kUnsupported && status < kInternalError;
  if (!declined_) check(status, "cudnnBackendExecute");
  return !declined_;
}

int type_of(int dtype) {
  return kit::library_dtype(dtype, {kFloat32, kFloat64, kFloat16, kBfloat16});
}

}  // namespace dl::cuda::cudnn
