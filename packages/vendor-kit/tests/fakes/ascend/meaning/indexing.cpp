// Functions that select, place or count elements by their position or value.
#include "reductions.h"

#include "arguments.gen.h"

using namespace fake_aclnn;

namespace {

Tensor positions(const Tensor& index) { return index.to(diopi_dtype_int64); }

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = empty_like(tensor);
  assign(copy, tensor);
  return copy;
}

// 0 replaces, 1 adds, 2 multiplies.
const char* reduce_name(int64_t reduce) {
  demand(reduce >= 0 && reduce <= 2, "reduce is not from 0 to 2");
  const char* const names[] = {"", "add", "multiply"};
  return names[reduce];
}

// The indices of an advanced index: an empty tensor stands for a whole dimension.
std::vector<Tensor> advanced(const Tensors& indices) {
  std::vector<Tensor> list;
  for (const Tensor& index : indices.values) {
    if (!index || index.numel() == 0)
      list.emplace_back();
    else
      list.push_back(index.dtype() == diopi_dtype_int32 ? positions(index) : index);
  }
  return list;
}

}  // namespace

MEANING(Embedding) {
  RUN(diopiEmbedding, out, weight, indices.to(diopi_dtype_int64), -1, false, false);
}
// paddingIdx is unsigned; the largest number is -1, which leaves no row out.
MEANING(EmbeddingDenseBackward) {
  demand(numWeights == out.size(0), "numWeights is not the size of out");
  RUN(diopiEmbeddingBackward, out, grad, positions(indices), numWeights, paddingIdx,
      scaleGradByFreq, false);
}
MEANING(EmbeddingRenorm) {
  RUN(diopiEmbeddingRenorm_, selfRef, positions(indices), maxNorm, normType);
}
MEANING(Gather) { RUN(diopiGather, out, self, dim, positions(index)); }
MEANING(IndexSelect) { RUN(diopiIndexSelect, out, self, dim, positions(index)); }
MEANING(Scatter) { RUN(diopiScatter, out, self, dim, src, positions(index), reduce_name(reduce)); }
MEANING(InplaceScatter) {
  RUN(diopiScatterInp, selfRef, dim, src, positions(index), reduce_name(reduce));
}
MEANING(ScatterValue) {
  RUN(diopiScatterScalar, out, self, dim, value, positions(index), reduce_name(reduce));
}
MEANING(InplaceScatterValue) {
  RUN(diopiScatterInpScalar, selfRef, dim, value, positions(index), reduce_name(reduce));
}
MEANING(ScatterAdd) { RUN(diopiScatter, out, self, dim, src, positions(index), "add"); }
// out = self, then alpha * source is added at the positions along dim.
MEANING(IndexAdd) {
  const Tensor places = positions(index).contiguous();
  demand(places.numel() == source.size(dim), "index and source have different lengths");
  assign(out, self);
  for (int64_t i = 0; i < places.numel(); ++i) {
    const int64_t place = static_cast<const int64_t*>(places.data())[i];
    demand(place >= 0 && place < out.size(dim), "an index is out of range");
    RUN(diopiAddInp, out.select(dim, place), source.select(dim, i), alpha);
  }
}
MEANING(IndexFill) { RUN(diopiIndexFillScalar, out, self, dim, positions(index), value); }
MEANING(InplaceIndexFill) { RUN(diopiIndexFillInpScalar, selfRef, dim, positions(index), value); }
MEANING(InplaceIndexCopy) {
  demand(source.dtype() == selfRef.dtype(), "source and selfRef have different dtypes");
  const Tensor places = positions(index).contiguous();
  demand(places.numel() == source.size(dim), "index and source have different lengths");
  for (int64_t i = 0; i < places.numel(); ++i) {
    int64_t place = static_cast<const int64_t*>(places.data())[i];
    if (place < 0) place += selfRef.size(dim);
    demand(place >= 0 && place < selfRef.size(dim), "an index is out of range");
    assign(selfRef.select(dim, place), source.select(dim, i));
  }
}
MEANING(Index) {
  if (out.numel() == 0) return;
  const std::vector<Tensor> list = advanced(indices);
  Handles handles(list);
  const auto found = engine_outputs("diopiIndex", 1, [&](auto ctx, auto* outputs) {
    return reinterpret_cast<decltype(&::diopiIndex)>(engine_function("diopiIndex"))(
        ctx, outputs, self, handles, indices.size());
  });
  demand(found[0].sizes() == out.sizes(), "out does not have the shape of the indexed tensor");
  assign(out, found[0]);
}
// unsafe skips checks of the indices.
MEANING(IndexPutImpl) {
  demand(!unsafe, "unsafe indices are not simulated");
  const std::vector<Tensor> list = advanced(indices);
  RUN(diopiIndexPutInp, selfRef, values, Handles(list), indices.size(), accumulate);
}
MEANING(InplaceMaskedScatter) { RUN(diopiMaskedScatter, selfRef, copy_of(selfRef), mask, source); }
// out is as large as self; aclGetViewShape tells the number of elements.
MEANING(MaskedSelect) {
  const auto found = engine_outputs("diopiMaskedSelect", 1, [&](auto ctx, auto* outputs) {
    return reinterpret_cast<decltype(&::diopiMaskedSelect)>(engine_function("diopiMaskedSelect"))(
        ctx, outputs, self, mask);
  });
  demand(out.rank() == 1 && out.size(0) >= found[0].size(0), "out is too small");
  assign(out.narrow(0, 0, found[0].size(0)), found[0]);
  out.set_view_shape(found[0].sizes());
}
MEANING(Nonzero) {
  const auto found = engine_outputs("diopiNonzero", 1, [&](auto ctx, auto* outputs) {
    return reinterpret_cast<decltype(&::diopiNonzero)>(engine_function("diopiNonzero"))(
        ctx, outputs, self);
  });
  demand(out.rank() == 2 && out.size(0) >= self.numel() && out.size(1) == self.rank(),
         "out is not [elements, dimensions]");
  assign(out.narrow(0, 0, found[0].size(0)), found[0]);
  out.set_view_shape(found[0].sizes());
}
MEANING(Unique2) {
  const bool counted = returnCounts;
  diopiTensorHandle_t number = nullptr;
  Tensor inverse = empty(self.sizes(), diopi_dtype_int64);
  Tensor values, counts;
  engine_outputs("diopiUnique", 1, [&](auto ctx, auto* outputs) {
    const auto code = reinterpret_cast<decltype(&::diopiUnique)>(engine_function("diopiUnique"))(
        ctx, outputs, self, nullptr, sorted, counted, inverse, counted ? &number : nullptr);
    if (code == diopiSuccess) {
      values = copy_of(view_of(outputs[0]));
      if (counted) counts = copy_of(view_of(number));
    }
    return code;
  });
  demand(valueOut.rank() == 1 && valueOut.size(0) >= values.size(0), "valueOut is too small");
  assign(valueOut.narrow(0, 0, values.size(0)), values);
  valueOut.set_view_shape(values.sizes());
  if (returnInverse) assign(inverseOut, inverse);
  if (counted) {
    assign(countsOut.narrow(0, 0, counts.size(0)), counts);
    countsOut.set_view_shape(counts.sizes());
  }
}
// onValue where a class along axis equals self, else offValue.
MEANING(OneHot) {
  demand(onValue.numel() == 1 && offValue.numel() == 1, "onValue or offValue is not one element");
  const int64_t place = axis < 0 ? axis + self.rank() + 1 : axis;
  Sizes sizes = self.sizes();
  sizes.insert(sizes.begin() + place, numClasses);
  demand(out.sizes() == sizes, "out does not have one more dimension of numClasses");
  if (numClasses == 0) return;
  Tensor classes = empty({numClasses}, diopi_dtype_int64);
  RUN(diopiArange, classes, Scalar::of(0), Scalar::of(numClasses), Scalar::of(1));
  Sizes alone(sizes.size(), 1);
  alone[static_cast<size_t>(place)] = numClasses;
  Tensor equal = empty(sizes, diopi_dtype_bool);
  RUN(diopiEq, equal, positions(self).unsqueeze(place), classes.reshape(alone));
  const Sizes ones(sizes.size(), 1);
  RUN(diopiWhere, out, equal, onValue.narrow_first(ones), offValue.narrow_first(ones));
}
MEANING(Topk) { RUN(diopiTopk, valuesOut, indicesOut, self, k, dim, largest, sorted); }
MEANING(Sort) {
  RUN(diopiSort, valuesOut, indicesOut, self, dim, descending, Address<bool>(stable));
}
