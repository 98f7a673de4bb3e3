// Plans of operators that write in place where an index or a mask says.
#pragma once

#include <c10/util/string_view.h>

#include "aten/plans.h"

namespace dl::core::plans {

bool scattered(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src);
bool scattered_by(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& src, std::string_view reduce);
bool scattered_number(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                      const at::Scalar& value);
bool scattered_number_by(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                         const at::Scalar& value, std::string_view reduce);
bool slices_filled(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                   const at::Scalar& value);
bool slices_filled_from(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& value);
bool masked_fill_from(DirectPlan& plan, const Tensor& self, const Tensor& mask,
                      const Tensor& value);
bool rows_scaled(DirectPlan& plan, const Tensor& self, const Tensor& indices);

}  // namespace dl::core::plans
