"""Tests of the inference of address spaces between the steps to SPIR-V."""

from __future__ import annotations

import pytest

from dl_kernels.spirv import SpirvError, find_spirv_tools
from dl_kernels.spirv_spaces import exchange_spaces, infer_spaces, restore_spaces

MODULE = """\
; a comment with a star: float*
target datalayout = "e-i64:64"
target triple = "spirv64"

%"struct.S*" = type { float addrspace(4)* }
@words = internal addrspace(3) global [2 x i32] undef, align 4

define spir_kernel void @k(float addrspace(1)* %to, %"struct.S*"* byval(%"struct.S*") align 8 %s) {
  %mine = alloca float, align 4
  %generic = addrspacecast float* %mine to float addrspace(4)*
  store float 2.0, float addrspace(4)* %generic, align 4
  %value = load float, float addrspace(4)* %generic, align 4
  store float %value, float addrspace(1)* %to, align 4
  ret void
}
"""


def test_generic_pointers_get_number_0_and_private_ones_a_free_number() -> None:
    lines = exchange_spaces(MODULE).splitlines()
    assert lines[0] == "; a comment with a star: float*"
    assert lines[1] == 'target datalayout = "e-i64:64-A5"'
    assert '%"struct.S*" = type { float* }' in lines
    assert "@words = internal addrspace(3) global [2 x i32] undef, align 4" in lines
    assert '(float addrspace(1)* %to, %"struct.S*" addrspace(5)* byval(%"struct.S*")' in lines[7]
    assert "  %mine = alloca float, align 4, addrspace(5)" in lines
    assert "  %generic = addrspacecast float addrspace(5)* %mine to float*" in lines


def test_restoring_undoes_the_exchange() -> None:
    assert restore_spaces(exchange_spaces(MODULE)) == MODULE


def test_private_variables_become_registers() -> None:
    try:
        optimizer = find_spirv_tools().optimize
    except SpirvError as error:
        pytest.skip(str(error))
    text = infer_spaces(MODULE, optimizer)
    assert "alloca" not in text and "addrspacecast" not in text
    assert "store float 2.000000e+00, float addrspace(1)* %to, align 4" in text
