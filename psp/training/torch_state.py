"""Torch's state for training: the device, the number of threads, and deterministic kernels."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

import torch

from psp.core import jit
from psp.core.errors import ConfigError

#: glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD.
_TRIM_THRESHOLD, _MAP_THRESHOLD = -1, -3


def choose_device(name: str, block: str) -> torch.device:
    """Resolve the setting ``device`` of a block: ``auto`` is the GPU if torch sees one, else the CPU.

    Raises:
        ConfigError: the setting names a GPU that torch does not see.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"{block}.device: {name!r}, but torch {torch.__version__} sees {torch.cuda.device_count()} GPUs. "
            "Write `device: auto`"
        )
    return device


def _choose_kernels() -> None:
    """Call once, with one thread, those functions of MKL's that training calls with several.

    MKL 2024.2, which torch 2 is built with, chooses a function's code at its first call; where threads make that call
    together, one of them may run code of lower precision for its share (pytorch/pytorch#188792). We saw models
    that differed from InfoNCE's first exponential on in six of some 340 processes.
    """
    one = torch.ones(1)
    for function in (torch.exp, torch.log):
        function(one)


def _keep_memory() -> None:
    """Let the C library keep freed memory for the next step instead of requesting it from the system again.

    A step briefly needs some 35 MB, in arrays so large that glibc would map each anew, and the system would clear all
    their pages: 8 to 10% of a step on 2 cores of an AMD EPYC. It has no effect with another C library.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        for parameter in (_TRIM_THRESHOLD, _MAP_THRESHOLD):
            libc.mallopt(parameter, 1 << 30)


@contextlib.contextmanager
def torch_state(threads: int) -> Iterator[None]:
    """Set torch up for training (threads, repeatable kernels), and restore it afterwards.

    Memory is not filled for the sake of repeatability: nothing here is read before it is written.

    Raises:
        ConfigError: there are no threads.
    """
    if threads < 1:
        raise ConfigError(f"threads: {threads} is not allowed; at least 1")
    before = torch.get_num_threads()
    compiled_before = jit.set_threads(threads)
    deterministic = torch.get_deterministic_debug_mode()
    fill = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    cudnn = torch.backends.cuda.cudnn_sdp_enabled()
    try:
        torch.set_num_threads(threads)
        # A GPU may lack a repeatable kernel: continue with a warning. torch.use_deterministic_algorithms would import
        # torch's compiler too, which takes 1.7 s of one core.
        torch.set_deterministic_debug_mode("warn")
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        # cuDNN's attention prepares itself anew for each shape of a batch, and no two batches of text have the same.
        torch.backends.cuda.enable_cudnn_sdp(False)
        _choose_kernels()
        _keep_memory()
        yield
    finally:
        torch.set_num_threads(before)
        jit.set_threads(compiled_before)
        torch.set_deterministic_debug_mode(deterministic)
        torch.utils.deterministic.fill_uninitialized_memory = fill  # type: ignore[attr-defined]
        torch.backends.cuda.enable_cudnn_sdp(cudnn)
