"""A small BERT on dl with tuned kernels: ``python run.py [--tune N] [precompiled.json]``."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from kcg.ModelUtils import DeviceInfo, PathManager, compare_with_error, evaluate_model_time
from kcg.TorchInjector import OpProxy, compile_model, registerPreCompiledKernelByJson
from model import BERT, ModelArgs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kernels = Path(__file__).with_name("precompiled.json")
    parser.add_argument("kernels", nargs="?", default=str(kernels), help="kernels to use, or make")
    parser.add_argument(
        "--tune", type=int, default=0, help="tune each shape by so many evaluations"
    )
    given = parser.parse_args()
    device = 0
    PathManager.init(clearPkl=True, clearCache=True, clearTmp=True, clearDump=True)
    DeviceInfo.init_cuda([device])
    args = ModelArgs()
    model = BERT(True, args).to(f"dl:{device}")
    model_bench = BERT(False, args).to(f"dl:{device}")
    input_ids = torch.randint(1, args.vocab_size, (2, args.max_position_embeddings)).to("dl")
    if given.tune:
        tuned = compile_model(
            device, lambda: model_bench(input_ids), evaluations=given.tune, save=given.kernels
        )
        for problem, best in tuned:
            print(f"{problem}: {best and best.verdict}")
    else:
        registerPreCompiledKernelByJson(given.kernels, device)
    out0, t0 = evaluate_model_time(lambda: model(input_ids))
    out1, t1 = evaluate_model_time(lambda: model_bench(input_ids))
    print(f"=== model run time : ours = {t1:.3f} ms, base = {t0:.3f} ms, speedup : {t0 / t1:.3f}")
    print("==== call ops :", OpProxy.GetOpCallCounts())
    if torch.allclose(out0, out1, atol=1e-3, rtol=1e-3):
        print("===== model test correct")
    else:
        print("===== model test error ! diff, maxerr =", compare_with_error(out0, out1))


if __name__ == "__main__":
    main()
