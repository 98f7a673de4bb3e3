"""Build of the library libcuda.so.1; all other settings are in pyproject.toml."""

from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library

# Unversioned names, as in the macros of NVIDIA's header, are aliases of the latest versions.
VERSIONED = (
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuDeviceGetUuid",
    "cuDevicePrimaryCtxRelease",
    "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxSetFlags",
    "cuDeviceTotalMem",
    "cuEventDestroy",
    "cuEventElapsedTime",
    "cuGetProcAddress",
    "cuIpcOpenMemHandle",
    "cuMemAlloc",
    "cuMemAllocHost",
    "cuMemAllocPitch",
    "cuMemFree",
    "cuMemGetAddressRange",
    "cuMemGetInfo",
    "cuMemHostGetDevicePointer",
    "cuMemHostRegister",
    "cuMemcpyDtoD",
    "cuMemcpyDtoDAsync",
    "cuMemcpyDtoH",
    "cuMemcpyDtoHAsync",
    "cuMemcpyHtoD",
    "cuMemcpyHtoDAsync",
    "cuMemsetD16",
    "cuMemsetD32",
    "cuMemsetD8",
    "cuModuleGetGlobal",
    "cuStreamBeginCapture",
    "cuStreamDestroy",
)

setup(
    ext_modules=[
        VendorLibrary(
            "dl_gpu_sim.lib.libcuda",
            sources=sorted(map(str, Path("csrc").glob("*/*.cpp"))),
            filename="libcuda.so.1",
            soname="libcuda.so.1",
            exports=("cu*", "dl_gpu_sim_*"),
            # No contraction to FMA: each operation rounds. Bytes are reinterpreted by
            # casts.
            extra_compile_args=["-O2", "-ffp-contract=off", "-fno-strict-aliasing", "-pthread"],
            extra_link_args=[
                "-pthread",
                "-ldl",
                *(f"-Wl,--defsym={name}={name}_v2" for name in VERSIONED),
            ],
        )
    ],
    cmdclass={"build_ext": build_vendor_library},
)
