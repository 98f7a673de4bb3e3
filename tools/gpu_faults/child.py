"""Run calls on one library in a child process, which a fault may terminate.

    python -m tools.gpu_faults.child LIBRARY CASE...

A line of JSON for each case: its results, or its error.
"""

from __future__ import annotations

import json
import sys

from diopi_proto import load_vendor
from tools.gpu_faults.cases import CASES, Make


def main(library: str, names: list[str]) -> None:
    with load_vendor(library) as vendor:
        for name in names:
            said: dict[str, object] = {"case": name}
            try:
                results = [tensor.numpy() for tensor in CASES[name](Make(vendor))]
                vendor.synchronize()
                said["results"] = [[str(x.dtype), x.shape, x.tobytes().hex()] for x in results]
            except Exception as error:  # noqa: BLE001 - any error is reported
                said["error"] = f"{type(error).__name__}: {error}"
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
