"""Each wrapper fits its upstream function, and is installed in any order of imports."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from dl_integrations.wrappers import MODULES, all_wrappers
from dl_integrations.wrappers.wrapper import MARK, Wrapper, digest_of

WRAPPERS = list(all_wrappers())
OPTIONAL = ("mmengine", "sentence_transformers")
"""Frameworks that are not requirements of the tests."""
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda x: f"{x.module}.{x.name}")
def test_the_upstream_function_is_the_one_that_was_tested(wrapper: Wrapper) -> None:
    framework = wrapper.module.partition(".")[0]
    if framework in OPTIONAL and importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    importlib.import_module(wrapper.module)
    package = wrapper.module.partition(".")[0].replace("_fabric", "")
    found = digest_of(wrapper.upstream())
    assert found == wrapper.digest, (
        f"{wrapper.module}.{wrapper.name} of {package} {version(package)} differs from the one of "
        f"{', '.join(wrapper.versions)}: check the wrapper, then record {found} and the version"
    )


def test_every_wrapper_states_why_it_is_needed() -> None:
    assert all(wrapper.reason and wrapper.versions for wrapper in WRAPPERS)
    assert len(MODULES) == len(set(MODULES))


@pytest.mark.parametrize(
    ("imports", "function"),
    [
        ("torch, accelerate", "accelerate.accelerator.Accelerator.__init__"),
        ("accelerate, torch", "accelerate.accelerator.Accelerator.__init__"),
        ("accelerate.utils", "accelerate.utils.get_max_memory"),
        ("safetensors.torch", "safetensors.torch.safe_open"),
        ("transformers.training_args", "transformers.training_args.is_torch_bf16_gpu_available"),
        ("transformers.pipelines", "transformers.pipelines.base.Pipeline.__init__"),
    ],
)
def test_a_function_is_wrapped_whatever_is_imported_first(imports: str, function: str) -> None:
    assert _runs(f"import {imports}; assert hasattr({function}, {MARK!r})")


def test_nothing_is_wrapped_without_a_device() -> None:
    check = f"assert not hasattr(accelerate.Accelerator.__init__, {MARK!r})"
    assert _runs(f"import accelerate; {check}", DL_VENDORS="cuda", CUDA_VISIBLE_DEVICES="")


def test_a_wrapper_is_installed_once() -> None:
    wrapper = next(x for x in WRAPPERS if x.module == "safetensors")
    module = importlib.import_module("safetensors")
    wrapper.install()
    before = module.safe_open
    wrapper.install()
    assert module.safe_open is before
    assert digest_of(wrapper.upstream()) == wrapper.digest


def _runs(code: str, **environment: str) -> bool:
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return True
