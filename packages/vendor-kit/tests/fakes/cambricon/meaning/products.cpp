// Products of matrices.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

// A factor as the product reads it: its last two dimensions exchanged if the descriptor says so.
Tensor factor(const Tensor& x, int64_t is_transposed) {
  return is_transposed != 0 ? x.transpose(-2, -1) : x;
}

// alpha * (a @ b), in float32.
Tensor product_of(const Described& desc, const Tensor& a, const Tensor& b, const Number& alpha) {
  demand(desc["compute_type"] == CNNL_DTYPE_FLOAT, "compute_type is not float");
  const Tensor left = factor(a, desc["transa"]).to(diopi_dtype_float32);
  const Tensor right = factor(b, desc["transb"]).to(diopi_dtype_float32);
  demand(left.size(-1) == right.size(-2), "the inner sizes differ");
  Sizes sizes = left.sizes();
  sizes.back() = right.size(-1);
  const Tensor made = empty(sizes, diopi_dtype_float32);
  RUN(diopiMatmul, made, left, right);
  RUN(diopiMulInpScalar, made, alpha.factor(diopi_dtype_float32));
  return made;
}

void add_scaled(const Tensor& to, const Described& desc, const Number& beta, const Tensor& c) {
  const Scalar scale = beta.factor(diopi_dtype_float32);
  if (desc["use_beta"] == 0) {
    demand(scale.real() == 0, "beta is not used, although it is not 0");
    return;
  }
  RUN(diopiAddInp, to, c.to(diopi_dtype_float32), scale);
}

}  // namespace

// d = alpha * (a @ b) + beta * c.
MEANING(MatMul_v2) {
  demand(a.rank() == 2 && b.rank() == 2 && d.rank() == 2, "not matrices");
  const Tensor made = product_of(matmul_desc, a, b, alpha);
  demand(made.sizes() == d.sizes() && c.sizes() == d.sizes(), "the output has another shape");
  add_scaled(made, matmul_desc, beta, c);
  assign(d, made);
}
// c = alpha * (a @ b) + beta * c, for each matrix of a batch.
MEANING(BatchMatMulBCast_v2) {
  demand(a.rank() == 3 && b.rank() == 3, "not batches of matrices");
  demand(a.size(0) == b.size(0), "the batches differ");
  const Tensor made = product_of(bmm_desc, a, b, alpha);
  demand(made.sizes() == c.sizes(), "the output has another shape");
  add_scaled(made, bmm_desc, beta, c);
  assign(c, made);
}
