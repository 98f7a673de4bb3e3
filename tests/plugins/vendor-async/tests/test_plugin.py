from __future__ import annotations

from importlib.metadata import entry_points

import dl_vendor_async_test
from diopi_proto.build import check_library
from diopi_proto.elf import read_elf
from dl_vendor_async_test import plugin


def test_entry_point_leads_to_the_descriptor():
    (entry,) = [point for point in entry_points(group="dl") if point.name == "async"]
    descriptor = entry.load().dl_vendor()
    assert descriptor.name == "async"
    assert descriptor.accelerator
    assert descriptor.priority == 10
    assert descriptor.version == dl_vendor_async_test.__version__


def test_library_keeps_the_build_rules():
    library = plugin.dl_vendor().library
    check_library(library)
    assert read_elf(library).exported == {"dl_vendor_v1"}


def test_importing_the_plugin_loads_no_library_and_no_torch(run_python):
    done = run_python(
        "import sys, dl_vendor_async_test.plugin\n"
        "print('torch' in sys.modules, 'dl_vendor_async_test' in open('/proc/self/maps').read())"
    )
    assert done.stdout == "False False\n", done.stderr
