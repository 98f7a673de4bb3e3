"""A small transformer on dl with tuned kernels: ``run.py [--model M] [--tune N] [FILE]``."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from bert import BERT
from gpt2 import GPT2
from kcg.ModelUtils import DeviceInfo, PathManager, compare_with_error, evaluate_model_time
from kcg.TorchInjector import OpProxy, compile_model, registerPreCompiledKernelByJson
from llama2 import Llama2
from parts import ModelArgs

MODELS = {"bert": BERT, "gpt2": GPT2, "llama2": Llama2}


def main() -> int:
    """Return the exit status: 1 if the tuned kernels change the model's output."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="?", help="file of kernels to use, or to write by --tune")
    parser.add_argument("--model", choices=list(MODELS), default="bert")
    parser.add_argument("--tune", type=int, default=0, help="number of evaluations per shape")
    given = parser.parse_args()
    made = f"{given.model}.json" if given.tune else Path(__file__).with_name("precompiled.json")
    kernels = given.kernels or str(made)
    device = 0
    PathManager.init(clearPkl=True, clearCache=True, clearTmp=True, clearDump=True)
    DeviceInfo.init_cuda([device])
    args = ModelArgs()
    model = MODELS[given.model](True, args).to(f"dl:{device}")
    model_bench = MODELS[given.model](False, args).to(f"dl:{device}")
    torch.manual_seed(0)
    input_ids = torch.randint(1, args.vocab_size, (2, args.max_position_embeddings)).to("dl")
    for problem, _ in compile_model(device, lambda: model_bench(input_ids), collectInfoOnly=True):
        print(f"product {problem}")
    if given.tune:
        tuned = compile_model(
            device, lambda: model_bench(input_ids), evaluations=given.tune, save=kernels
        )
        for problem, best in tuned:
            print(f"{problem}: {best and best.verdict}")
    else:
        registerPreCompiledKernelByJson(kernels, device)
    out0, t0 = evaluate_model_time(lambda: model(input_ids))
    out1, t1 = evaluate_model_time(lambda: model_bench(input_ids))
    print(f"=== model run time : ours = {t1:.3f} ms, base = {t0:.3f} ms, speedup : {t0 / t1:.3f}")
    print("==== call ops :", OpProxy.GetOpCallCounts())
    if torch.allclose(out0, out1, atol=1e-3, rtol=1e-3):
        print("===== model test correct")
        return 0
    print("===== model test error ! diff, maxerr =", compare_with_error(out0, out1))
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
