// Random numbers. For the same seed, the generator of the fake, like the generator of aclnn, gives
// other numbers than the contract's generator; shapes and distributions are right.
#include "arguments.gen.h"

using namespace fake_aclnn;

MEANING(InplaceBernoulli) {
  RUN(diopiBernoulliScalar, selfRef, prob.real(), Generator(seed, offset));
}
MEANING(InplaceBernoulliTensor) {
  RUN(diopiBernoulli, selfRef, prob.expand(selfRef.sizes()), Generator(seed, offset));
}
MEANING(InplaceNormal) { RUN(diopiNormalInp, selfRef, mean, std, Generator(seed, offset)); }
MEANING(InplaceUniform) { RUN(diopiUniformInp, selfRef, from, to, Generator(seed, offset)); }
// Integers from `from` to `to` - 1.
MEANING(InplaceRandom) {
  RUN(diopiRandomInp, selfRef, from, Address<int64_t>(to), Generator(seed, offset));
}
MEANING(Randperm) { RUN(diopiRandperm, out, n, Generator(seed, offset)); }
MEANING(Multinomial) {
  RUN(diopiMultinomial, out, self, numsamples, replacement, Generator(seed, offset));
}
// One bit per element, 1 for elements that are kept; `prob` is the probability of a 0 bit.
MEANING(DropoutGenMask) {
  const int64_t count = product(shape.values);
  demand(out.numel() * 8 >= count, "out has less than one bit per element");
  Tensor kept = empty({count}, diopi_dtype_uint8);
  RUN(diopiBernoulliScalar, kept, 1 - prob, Generator(seed, offset));
  auto* bits = static_cast<uint8_t*>(out.data());
  const auto* values = static_cast<const uint8_t*>(kept.data());
  for (int64_t i = 0; i < out.numel(); ++i) bits[i] = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] != 0) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << i % 8);
  }
}
MEANING(DropoutDoMask) {
  demand(mask.numel() * 8 >= self.numel(), "mask has less than one bit per element");
  Tensor factors = empty({self.numel()}, diopi_dtype_float32);
  const auto* bits = static_cast<const uint8_t*>(mask.data());
  for (int64_t i = 0; i < self.numel(); ++i) {
    const bool kept = prob < 1 && (prob == 0 || (bits[i / 8] >> i % 8 & 1) != 0);
    static_cast<float*>(factors.data())[i] = kept ? static_cast<float>(1 / (1 - prob)) : 0;
  }
  Tensor product = empty(self.sizes(), diopi_dtype_float32);
  RUN(diopiMul, product, self.to(diopi_dtype_float32), factors.reshape(self.sizes()));
  assign(out, product);
}
