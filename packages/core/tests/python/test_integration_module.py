"""torch.dl on a real device of any vendor."""

from __future__ import annotations

import io
import threading

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("dl_device")


def test_the_device_is_the_current_accelerator() -> None:
    assert torch.accelerator.current_accelerator() == torch.device("dl")
    assert torch.accelerator.device_count() == torch.dl.device_count() >= 1
    assert torch.get_device_module("dl") is torch.dl


def test_current_device_and_guards() -> None:
    assert torch.dl.current_device() == 0
    with torch.dl.device(0):
        assert torch.ones(1, device="dl").device == torch.device("dl", 0)
    with torch.dl.device(None), torch.dl.device("dl:0"), torch.dl.device(torch.device("dl")):
        assert torch.dl.current_device() == 0
    with torch.dl.device_of(torch.ones(1, device="dl")), torch.dl.device_of(torch.ones(1)):
        assert torch.dl.current_device() == 0
    torch.dl.set_device("dl:0")
    torch.dl.set_device(-1)
    assert torch.dl.current_device() == 0


def test_a_device_that_is_not_there_is_named() -> None:
    missing = torch.dl.device_count()
    with pytest.raises(RuntimeError, match=rf"set_device.*no dl:{missing}.*dl doctor"):
        torch.dl.set_device(missing)
    with pytest.raises(ValueError, match="expected a dl device, got cpu"):
        torch.dl.get_device_name("cpu")


def test_properties() -> None:
    properties = torch.dl.get_device_properties("dl:0")
    assert properties.name == torch.dl.get_device_name() != ""
    assert properties.total_memory > 0 and properties.vendor
    assert torch.dl.get_device_capability(0) == (properties.major, properties.minor)
    assert torch.float32 in torch.accelerator.get_device_capability()["supported_dtypes"]
    assert torch.dl.is_bf16_supported()


def test_streams_keep_identity() -> None:
    default = torch.dl.default_stream()
    assert torch.dl.current_stream() == default
    stream = torch.dl.Stream()
    assert isinstance(stream, torch.dl.Stream) and stream.device == torch.device("dl", 0)
    with torch.dl.stream(stream):
        assert torch.dl.current_stream() == stream
        assert isinstance(torch.dl.current_stream(), torch.dl.Stream)
        with torch.dl.stream(stream), torch.dl.stream(None):
            assert torch.dl.current_stream() == stream
        assert torch.dl.current_stream() == stream
    assert torch.dl.current_stream() == default
    torch.dl.set_stream(stream)
    torch.dl.set_stream(None)
    assert torch.dl.current_stream() == stream
    torch.dl.set_stream(default)


def test_streams_have_priorities() -> None:
    lowest, highest = torch.dl.Stream.priority_range()
    assert lowest > 0 > highest
    assert [torch.dl.Stream(priority=p).priority for p in (-100, -1, 0, 1, 100)] == [
        *(highest, -1, 0, 1, lowest)
    ]
    urgent = torch.dl.Stream(torch.dl.device_count() - 1, priority=-1)
    assert isinstance(urgent, torch.Stream)
    with torch.dl.stream(urgent):
        assert torch.dl.current_stream().priority == -1
    assert torch.dl.current_stream().priority == torch.dl.default_stream().priority == 0


def test_a_stream_is_restored_after_an_error() -> None:
    default, stream = torch.dl.current_stream(), torch.dl.Stream()
    with pytest.raises(KeyError), torch.dl.stream(stream):
        raise KeyError
    assert torch.dl.current_stream() == default


def test_a_stream_brings_its_device_and_both_are_restored() -> None:
    last = torch.dl.device_count() - 1
    stream = torch.dl.Stream(last)
    before = torch.dl.current_stream(last)
    with torch.dl.stream(stream):
        assert torch.dl.current_device() == last
        assert torch.ones(1, device="dl").device.index == last
        assert torch.dl.current_stream() == stream
    assert torch.dl.current_device() == 0
    assert torch.dl.current_stream(last) == before
    with torch.dl.device(last):
        assert torch.dl.current_device() == last
    assert torch.dl.current_device() == 0


def test_the_current_stream_belongs_to_the_thread() -> None:
    seen = []
    with torch.dl.stream(torch.dl.Stream()):
        thread = threading.Thread(target=lambda: seen.append(torch.dl.current_stream()))
        thread.start()
        thread.join()
    assert seen == [torch.dl.default_stream()]


def test_events_order_and_time_work() -> None:
    start, end = torch.dl.Event(enable_timing=True), torch.dl.Event(enable_timing=True)
    start.record()
    torch.ones(1000, device="dl").exp().sum()
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    assert isinstance(end, torch.dl.Event) and not isinstance(torch.dl.Stream(), torch.dl.Event)
    stream = torch.dl.Stream()
    stream.wait_event(end)
    assert stream.record_event(end) is end
    stream.wait_stream(torch.dl.current_stream())
    stream.synchronize()
    assert stream.query()
    torch.dl.synchronize()


def test_random_numbers_repeat() -> None:
    torch.manual_seed(3)
    first = torch.randn(5, device="dl")
    assert torch.dl.initial_seed() == 3
    state = torch.dl.get_rng_state()
    second = torch.randn(5, device="dl")
    torch.dl.set_rng_state(state)
    assert torch.equal(second, torch.randn(5, device="dl")) and not torch.equal(first, second)
    torch.dl.manual_seed_all(3)
    assert torch.equal(first, torch.randn(5, device="dl"))
    states = torch.dl.get_rng_state_all()
    third = torch.randn(5, device="dl")
    torch.dl.set_rng_state_all(states)
    assert torch.equal(third, torch.randn(5, device="dl"))
    with pytest.raises(ValueError, match="0 states"):
        torch.dl.set_rng_state_all([])


def test_fork_rng_restores_the_device() -> None:
    torch.manual_seed(3)
    with torch.random.fork_rng(devices=range(torch.dl.device_count())):
        inside = torch.randn(5, device="dl")
    assert torch.equal(inside, torch.randn(5, device="dl"))


def test_seed_is_random() -> None:
    torch.dl.seed()
    once = torch.dl.initial_seed()
    torch.dl.seed_all()
    assert once != torch.dl.initial_seed()
    assert torch.dl.default_generators[0].initial_seed() == torch.dl.initial_seed()


def test_memory_is_counted() -> None:
    torch.dl.empty_cache()
    before = torch.dl.memory_allocated()
    torch.dl.reset_peak_memory_stats()
    tensor = torch.empty(1 << 20, dtype=torch.uint8, device="dl")
    assert torch.dl.memory_allocated() - before >= 1 << 20
    assert torch.dl.memory_reserved() >= torch.dl.memory_allocated()
    peak = torch.dl.max_memory_allocated()
    del tensor
    assert torch.dl.memory_allocated() == before
    assert torch.dl.max_memory_allocated() == peak >= before + (1 << 20)
    assert torch.dl.max_memory_reserved() >= peak
    torch.dl.reset_peak_memory_stats()
    assert torch.dl.max_memory_allocated() == before
    torch.dl.reset_accumulated_memory_stats()
    assert torch.dl.memory_stats()["allocated_bytes.all.allocated"] == 0
    free, total = torch.dl.mem_get_info()
    assert 0 < free <= total
    summary = torch.dl.memory_summary()
    assert "reserved" in summary and "freed" in summary
    assert "freed" not in torch.dl.memory_summary(abbreviated=True)


def test_files_come_back_to_where_they_are_wanted() -> None:
    tensor = torch.arange(6.0, device="dl").reshape(2, 3)
    file = io.BytesIO()
    torch.save({"whole": tensor, "view": tensor[1]}, file)
    for target in (None, "dl", "dl:0", torch.device("dl"), "cpu"):
        file.seek(0)
        loaded = torch.load(file, map_location=target)
        expected = "cpu" if target == "cpu" else "dl"
        assert {t.device.type for t in loaded.values()} == {expected}
        assert torch.equal(loaded["whole"].cpu(), tensor.cpu())
        assert loaded["view"].untyped_storage().data_ptr() == (
            loaded["whole"].untyped_storage().data_ptr()
        )


def test_a_file_from_the_cpu_can_be_loaded_onto_the_device() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(3), file)
    file.seek(0)
    assert torch.load(file, map_location="dl").device == torch.device("dl", 0)


def test_generated_methods() -> None:
    tensor = torch.ones(2).dl()
    assert tensor.is_dl and not tensor.cpu().is_dl
    assert next(torch.nn.Linear(2, 2).dl().parameters()).is_dl
    assert torch.ones(2).untyped_storage().dl().is_dl


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_legacy_storage_classes() -> None:
    assert torch.dl.FloatStorage.dtype == torch.float32
    assert torch.dl.FloatStorage is torch.dl.FloatStorage
    storage = torch.ones(2, device="dl")._typed_storage()
    assert isinstance(storage, torch.dl.FloatStorage)
    assert not isinstance(storage, torch.dl.HalfStorage)
    with pytest.raises(AttributeError, match=r"torch\.dl.*NoSuchStorage"):
        torch.dl.NoSuchStorage  # noqa: B018


def test_autocast_uses_bfloat16() -> None:
    linear = torch.nn.Linear(4, 4).to("dl")
    with torch.autocast("dl"):
        assert linear(torch.ones(2, 4, device="dl")).dtype is torch.bfloat16
    with torch.autocast("dl", dtype=torch.float16):
        assert linear(torch.ones(2, 4, device="dl")).dtype is torch.float16


def test_it_says_that_it_is_initialised() -> None:
    assert torch.dl.is_initialized() and not torch.dl._is_in_bad_fork()
    torch.dl.init()
