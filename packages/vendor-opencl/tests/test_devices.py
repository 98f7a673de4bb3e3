"""Tests of devices, memory, streams and events."""

from __future__ import annotations

from pathlib import Path

import pytest

from processes import DRIVERS, Vendor, doctor


def test_operators_of_both_kinds_of_kernels_run(vendor: Vendor) -> None:
    vendor.run_on_vendor(
        """
        a, b = np.random.default_rng(0).standard_normal((2, 70, 70), dtype="float32")
        x, y = vendor.tensor(a), vendor.tensor(b)
        total, product = vendor.empty((70, 70), "float32"), vendor.empty((70, 70), "float32")
        vendor.op.Add(total, x, y, 2)
        vendor.op.Matmul(product, x, y)
        np.testing.assert_allclose(total.numpy(), a + 2 * b, rtol=1e-6)
        np.testing.assert_allclose(product.numpy(), a @ b, rtol=1e-4, atol=1e-4)
        """
    )


@pytest.mark.parametrize("setting", ["on", "off"])
def test_rows_are_processed_with_and_without_sub_groups(vendor: Vendor, setting: str) -> None:
    """Five short rows leave some sub-groups of a work-group without one."""
    output = vendor.run(
        """
        import torch
        for shape in (5, 40), (3, 5000):
            x = torch.randn(shape, generator=torch.manual_seed(0))
            index = torch.randint(shape[1], (shape[0], 33))
            for function in (
                lambda x: x.sum(-1), lambda x: x.amax(-1), lambda x: x.cumsum(-1),
                lambda x: x.gather(1, index.to(x.device)),
            ):
                torch.testing.assert_close(
                    function(x.to("dl")).cpu(), function(x), rtol=1e-5, atol=1e-4
                )
        print(torch.dl.get_device_properties(0).warp_size)
        """,
        DL_OPENCL_SUB_GROUPS=setting,
    )
    assert output == "1\n" or (setting == "on" and output == "32\n")


def test_too_much_memory_is_out_of_memory(vendor: Vendor) -> None:
    vendor.run_on_vendor(
        """
        try:
            vendor.empty((1 << 50,), "uint8")
        except OutOfMemoryError as error:
            assert "bytes of device memory are not available" in str(error)
        else:
            raise AssertionError
        x = vendor.empty((1 << 20,), "uint8")
        """
    )


def test_streams_are_ordered_by_events_and_timed(vendor: Vendor) -> None:
    vendor.run(
        """
        import torch
        a = torch.ones(600, 600, device="dl")
        a @ a
        torch.dl.synchronize()
        side = torch.Stream("dl")
        start, end = (torch.Event("dl", enable_timing=True) for _ in range(2))
        with side:
            start.record()
            b = a
            for _ in range(6):
                b = (a @ b) / 600
            end.record()
        torch.dl.current_stream().wait_event(end)
        assert torch.equal((b + 1).cpu(), torch.full((600, 600), 2.0))
        end.synchronize()
        assert end.query() and start.elapsed_time(end) > 0
        """
    )


def test_calls_return_before_their_work_is_done(vendor: Vendor) -> None:
    vendor.run(
        """
        import torch
        a = torch.ones(1500, 1500, device="dl")
        a @ a
        torch.dl.synchronize()
        pending = 0
        for _ in range(5):
            b = a @ a
            pending += not torch.dl.current_stream().query()
            torch.dl.synchronize()
            assert torch.dl.current_stream().query()
        assert pending, "every product was finished when its call returned"
        """
    )


def test_threads_share_a_kernel(vendor: Vendor) -> None:
    """OpenCL keeps arguments in the kernel object, so launches of several threads could mix."""
    vendor.run(
        """
        import torch
        from concurrent.futures import ThreadPoolExecutor
        def work(k):
            with torch.Stream("dl") as stream:
                x = torch.full((333,), float(k), device="dl")
                for _ in range(30):
                    x = x + 1
                stream.synchronize()
            return bool((x.cpu() == k + 30).all())
        torch.dl.synchronize()
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, range(16)))
        """
    )


def test_an_invalid_index_is_reported_at_the_next_wait(vendor: Vendor) -> None:
    vendor.run(
        """
        import torch
        x = torch.arange(4.0, device="dl")
        try:
            torch.gather(x, 0, torch.tensor([9], device="dl")).cpu()
        except IndexError as error:
            assert "9" in str(error)
        else:
            raise AssertionError
        assert x.sum().item() == 6
        """
    )


def test_devices_of_two_drivers_work_in_one_process(vendor: Vendor, tmp_path: Path) -> None:
    driver = Path(DRIVERS.get("DL_OPENCL_DRIVER", ""))
    # Not the loader of Intel's wheel, which ignores its variables for root.
    loader = next(iter(sorted(Path("/usr/lib").glob("*/libOpenCL.so.1"))), None)
    if driver.name != "libintelocl.so" or loader is None:
        pytest.skip("needs OpenCL's loader, and Intel's wheel, named by DL_OPENCL_DRIVER")
    (tmp_path / "intel.icd").write_text(f"{driver}\n", encoding="utf-8")
    output = vendor.run_on_vendor(
        """
        results = []
        for device in range(vendor.device_count):
            x = vendor.tensor(np.arange(5, dtype="float32"), device=device)
            y = vendor.empty((5,), "float32", device=device)
            vendor.op.Add(y, x, x, 1)
            results.append(y)
        print(len(results), all((y.numpy() == 2 * np.arange(5)).all() for y in results))
        """,
        # The same runtime through the loader and without it: two drivers as far as this goes.
        DL_OPENCL_DRIVER=f"{loader}:{driver}",
        OCL_ICD_VENDORS=str(tmp_path),
    )
    assert output == "2 True\n"


def test_a_device_without_spirv_is_named_with_what_it_lacks() -> None:
    registry = Path("/etc/OpenCL/vendors")
    if not (registry / "pocl.icd").exists():
        pytest.skip("PoCL is not installed")
    found = doctor(DL_VENDORS="opencl", OCL_ICD_VENDORS=str(registry))
    if found["device_count"] == 0:
        assert "of Portable Computing Language cannot be used: it " in found["no_device"]
