"""Tests of the kernel extension: kernels from OpenCL C."""

from __future__ import annotations

from processes import Vendor

SOURCE = '''
    SCALE = """
    kernel void scale(global float* x, float factor, long count) {
      const long i = get_global_id(0);
      if (i < count) x[i] *= factor;
    }
    kernel void turn(global const int* from, global int* to, local int* held) {
      held[get_local_id(0)] = from[get_local_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
      to[get_local_id(0)] = held[get_local_size(0) - 1 - get_local_id(0)];
    }
    """
    def refused(call, *words):
        try:
            call()
        except VendorError as error:
            assert all(word in str(error) for word in words), str(error)
            return error
        raise AssertionError(words)
    compile, load = vendor.kernels.compile, vendor.kernels.load
'''


def test_source_is_compiled_and_runs(vendor: Vendor) -> None:
    code = """
    found = vendor.kernels.properties()
    assert "opencl" in found.languages and found.compiler and not found.unavailable
    code = compile(SCALE, name="scale.cl", options=["-DN=1", "-cl-mad-enable"])
    again = compile(SCALE, name="scale.cl", options=["-DN=1", "-cl-mad-enable"])
    assert (code.cached, again.cached, again.bytes) == (False, True, code.bytes)
    module = load(code)
    x = vendor.tensor(np.arange(100, dtype="float32"))
    module.function("scale")(x, np.float32(3), 100, grid=4, block=32)
    np.testing.assert_array_equal(x.numpy(), 3 * np.arange(100))
    given, out = vendor.tensor(np.arange(32, dtype="int32")), vendor.empty((32,), "int32")
    module.function("turn")(given, out, block=32, shared_bytes=128)
    np.testing.assert_array_equal(out.numpy(), np.arange(32)[::-1])
    needs = module.function("scale").properties
    assert needs.max_block_threads >= 32 and needs.spill_bytes is None
    """
    vendor.run_on_vendor(SOURCE + code)


def test_code_is_loaded_by_another_process(vendor: Vendor) -> None:
    code = """
    import sys
    sys.stdout.write(compile(SCALE).bytes.hex())
    """
    binary = vendor.run_on_vendor(SOURCE + code)
    code = f"""
    x = vendor.tensor(np.arange(4, dtype="float32"))
    scale = load(bytes.fromhex("{binary}")).function("scale")
    scale(x, np.float32(2), 4, block=4)
    assert x.numpy().tolist() == [0, 2, 4, 6]
    """
    vendor.run_on_vendor(SOURCE + code)


def test_a_header_comes_with_the_source(vendor: Vendor) -> None:
    code = """
    text = '#include "factor.h"\\nkernel void k(global int* x) { *x = FACTOR; }'
    code = compile(text, headers={"factor.h": "#define FACTOR 7"})
    x = vendor.empty((1,), "int32")
    load(code).function("k")(x)
    assert x.numpy().tolist() == [7]
    """
    vendor.run_on_vendor(SOURCE + code)


def test_source_that_does_not_compile_has_the_log(vendor: Vendor) -> None:
    code = """
    error = refused(lambda: compile("kernel void k() { wrong }", name="bad.cl"),
                    "bad.cl does not compile", "CL_BUILD_PROGRAM_FAILURE", "wrong")
    assert "wrong" in error.details
    """
    vendor.run_on_vendor(SOURCE + code)


def test_wrong_sizes_options_and_names_are_reported(vendor: Vendor) -> None:
    code = """
    refused(lambda: compile("", language="cuda"), "'cuda' is not supported")
    for option in ("-I/tmp", "-o", "-cl-x=/tmp/x", "--save-temps=/tmp", "x", "-D"):
        refused(lambda: compile("", options=[option]), option, "does more than affect")
    refused(lambda: compile("", options=["-DX=a b"]), "a space")
    refused(lambda: load(b"no code of any kind"), "not a program for this device")
    module = load(compile(SCALE))
    refused(lambda: module.function("missing"), "no kernel 'missing'", "__kernel")
    scale, x = module.function("scale"), vendor.tensor(np.ones(4, "float32"))
    most = module.function("scale").properties.max_block_threads
    refused(lambda: scale(x, np.float32(2), 4, block=2 * most), f"block {2 * most}x1x1")
    refused(lambda: scale(x, np.float32(2), 4, shared_bytes=1 << 30), "1073741824 shared bytes")
    refused(lambda: scale(x, np.float32(2)), "2 arguments for the kernel's 3 parameters")
    refused(lambda: scale(x, np.float32(2), 4, shared_bytes=64), "pointer to local memory")
    assert x.numpy().tolist() == [1, 1, 1, 1]
    """
    vendor.run_on_vendor(SOURCE + code)
