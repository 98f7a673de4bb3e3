"""What the machine code of GPU kernels tells without a GPU, ours beside torch's: ``gpu-code``."""
