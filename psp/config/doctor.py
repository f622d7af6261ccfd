"""``psp doctor``: check whether this installation has what it needs, and say what to do if not.

Each check looks at one thing and returns findings; none changes anything or raises. With a config, the files that it
names are checked too, and its addresses if asked for, since that needs a network.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from psp.core.errors import PspError
from psp.core.machine import gpu, load_averages, multiplies_bfloat16, usable_cores
from psp.core.version import __version__

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from psp.config.config import Config

#: The distribution's name.
PACKAGE: Final = "paraphrastic"
#: Bytes below which a finding is reported: disk, for a model of a few million pairs; memory, for sentencepiece.
DISK, TEMPORARY, MEMORY = 10 * 10**9, 2 * 10**9, 4 * 10**9
#: For a distribution that is not installed.
ABSENT = "not installed"
#: The extra that everything in a checkout needs; others are reported only if partly installed.
WORKFLOW = "workflow"


@dataclass(frozen=True)
class Finding:
    """The finding of a check.

    Attributes:
        name: the thing.
        text: its state.
        mend: what to do, if anything.
        broken: whether something that this installation needs does not work.
    """

    name: str
    text: str
    mend: str = ""
    broken: bool = False

    @property
    def state(self) -> str:
        """``ok``, ``note`` or ``BROKEN``."""
        return "BROKEN" if self.broken else "note" if self.mend else "ok"


def check(folder: Path, config: Config | None, *, network: bool = False) -> Iterator[Finding]:
    """Check everything.

    Args:
        folder: the checkout, or where results would be.
        config: the project's; None without a checkout, when checks that only a workflow needs are skipped.
        network: whether to ask each configured address.
    """
    yield from packages(workflow=config is not None)
    yield from machine()
    yield from disk(folder)
    yield compiled_code(needed=config is not None)
    yield graphics()
    yield from slurm()
    if config is not None:
        yield from entries(config)
        yield from language_identification(config, folder)
        yield from local_files(config)
        if network:
            yield from addresses(config)


def packages(*, workflow: bool) -> Iterator[Finding]:
    """Python, psp, and whether its required packages are installed in suitable versions."""
    yield Finding("Python", f"{platform.python_version()} on {platform.system()}, psp {__version__}")
    try:
        extras = _requirements()
    except ImportError:
        yield Finding("packages", "not checked, without the package packaging", "run `pip install packaging`")
        return
    except importlib.metadata.PackageNotFoundError:
        yield Finding("packages", "not checked: psp is not installed", "run `pip install -e .` in its checkout")
        return
    complete = []
    for extra, wanted in extras.items():
        wrong = {name: problem for name, problem in wanted.items() if problem is not None}
        needed = extra in ("", WORKFLOW) if workflow else not extra
        if not wrong:
            complete.append(extra or "psp's own")
        elif needed or set(wrong.values()) != {ABSENT}:  # an extra that was not installed lacks many packages
            what = f"[{extra}]" if extra else ""
            told = ", ".join(f"{name} ({problem})" for name, problem in wrong.items())
            yield Finding(f"packages{what}", told, f"run `pip install '{PACKAGE}{what}'`", broken=needed)
    yield Finding("packages", f"complete: {', '.join(complete)}")


def _requirements() -> dict[str, dict[str, str | None]]:
    """The distributions that each extra (``""``: psp itself) requires, each with what is wrong with it.

    Raises:
        ImportError: the package packaging is not installed.
        PackageNotFoundError: psp is not.
    """
    from packaging.requirements import Requirement

    about = importlib.metadata.metadata(PACKAGE)
    extras = ["", *(about.get_all("Provides-Extra") or ())]
    stated: dict[str, list[Requirement]] = {extra: [] for extra in extras}
    for text in importlib.metadata.requires(PACKAGE) or ():
        requirement = Requirement(text)
        for extra in extras:
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                stated[extra].append(requirement)
                if not extra:
                    break

    def resolved(extra: str) -> dict[str, str | None]:
        problems: dict[str, str | None] = {}
        for requirement in stated[extra]:
            if requirement.name == PACKAGE:
                for other in sorted(requirement.extras):
                    problems |= resolved(other)
            else:
                problems[requirement.name] = _problem(requirement.name, requirement.specifier)
        return problems

    return {extra: resolved(extra) for extra in extras}


def _problem(name: str, specifier: SpecifierSet) -> str | None:
    """What is wrong with an installed distribution."""
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ABSENT
    return None if specifier.contains(version, prereleases=True) else f"{version}, not {specifier}"


def machine() -> Iterator[Finding]:
    """Cores, threads and memory, with the limits of a container."""
    cores, quota = len(usable_cores()), _cpu_quota()
    shown = f"{cores} that this process may use, of {os.cpu_count()}"
    if load := load_averages():
        shown += f"; load {load[0]:g}"
    if multiplies_bfloat16():
        shown += "; with bfloat16 multiplication"
    mend = ""
    if quota is not None and quota < cores:
        mend = f"the container is limited to the time of {quota:g}; run `snakemake --cores {max(1, int(quota))}`"
    yield Finding("cores", shown, mend)
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"):
        value = os.environ.get(variable, "")
        if value and not (value.isdecimal() and 1 <= int(value) <= cores):
            mend = f"run `unset {variable}`, or set it to at most {cores}"
            yield Finding("threads", f"{variable} is {value}, and there are {cores} cores", mend)
    memory = _memory()
    if memory is not None:
        mend = "sentencepiece may need more; close other programs, or lower `subword.sample`" if memory < MEMORY else ""
        yield Finding("memory", f"{_size(memory)} available", mend)


def _cpu_quota() -> float | None:
    """The number of cores whose time a control group may use; None without a limit or a control group."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="utf-8").split()
        return int(quota) / int(period)
    return None


def _memory() -> int | None:
    """Available bytes of memory; None if the system does not say."""
    limits = []
    with contextlib.suppress(OSError, ValueError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines())
        limits.append(1024 * int(lines["MemAvailable"].split()[0]))
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / f"memory.{name}").read_text(encoding="utf-8") for name in ("max", "current"))
        limits.append(int(limit) - int(used))
    return min(limits, default=None)


def disk(folder: Path) -> Iterator[Finding]:
    """Space and permissions of the folders for results and temporary files, and whether files can be locked there."""
    home = folder / "results"
    while not home.exists():
        home = home.parent
    for name, place, least in (("disk", home, DISK), ("temporary files", Path(tempfile.gettempdir()), TEMPORARY)):
        try:
            with tempfile.TemporaryFile(dir=place) as file:
                locks = _locks(file.fileno())
            free = shutil.disk_usage(place).free
        except OSError as error:
            mend = "make it writable, or free space" if name == "disk" else "set TMPDIR to a folder that is writable"
            yield Finding(name, f"{place.absolute()}: {error.strerror}", mend, broken=True)
            continue
        mend = f"free some; `psp plan MODEL` estimates what a model takes; below {_size(least)}" if free < least else ""
        yield Finding(name, f"{_size(free)} free in {place.absolute()}", mend)
        if name == "disk" and not locks:
            yield Finding(name, f"{place.absolute()} has no locks", "do not run twice in it at the same time")


def _locks(file: int) -> bool:
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def compiled_code(*, needed: bool) -> Finding:
    """Whether loops can be compiled, and compiled code be kept."""
    import numpy as np

    try:
        from psp.core import jit

        kept = jit.cache_folder()
        if jit.dot(np.ones(3), np.arange(1.0, 4.0)) != 6:
            return Finding("compiled code", "sums wrongly", "install another version of numba", broken=True)
    except ImportError:
        mend = f"run `pip install '{PACKAGE}[fast]'`"
        return Finding("compiled code", "numba is not installed: models embed more slowly", mend, broken=needed)
    except Exception as error:  # any error of numba or its LLVM
        mend = f"reinstall numba: `pip install --force-reinstall '{PACKAGE}[fast]'`"
        return Finding("compiled code", f"fails: {' '.join(str(error).split())[:200]}", mend, broken=True)
    if kept is None:
        mend = "set NUMBA_CACHE_DIR to a folder that is writable"
        return Finding("compiled code", "works, and is compiled again at every start", mend)
    return Finding("compiled code", f"works, kept in {kept}")


def graphics() -> Finding:
    """Whether torch sees the GPU that the system has."""
    there = gpu()
    try:
        import torch
    except ImportError:
        return Finding("GPU", there or "none", "")
    except OSError as error:  # a CUDA library is missing
        return Finding("GPU", f"torch does not load: {error}", "reinstall torch", broken=True)
    if torch.cuda.is_available():
        return Finding("GPU", f"{torch.cuda.get_device_name(0)}, used by torch {torch.__version__}")
    if there:
        mend = "install a build of torch for the driver's version of CUDA, if training is to use it"
        return Finding("GPU", f"{there}, which torch {torch.__version__} does not see", mend)
    return Finding("GPU", f"none; torch {torch.__version__} trains on the CPU")


def slurm() -> Iterator[Finding]:
    """On a machine with Slurm: whether it answers, and whether Snakemake can submit to it."""
    if shutil.which("sbatch") is None:
        yield Finding("Slurm", "none")
        return
    try:
        asked = subprocess.run(["sinfo", "--noheader", "--format=%P %a"], capture_output=True, text=True, timeout=20)
        answer, failed = (asked.stderr or asked.stdout).strip(), asked.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as error:
        answer, failed = str(error), True
    if failed:
        yield Finding("Slurm", f"does not answer: {answer[:200]}", "ask its administrators; without it, runs are local")
    else:
        yield Finding("Slurm", f"answers: {', '.join(answer.splitlines())[:200]}")
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        yield Finding("Slurm", "Snakemake cannot submit to it", f"run `pip install '{PACKAGE}[slurm]'`")


def entries(config: Config) -> Iterator[Finding]:
    """Whether each model of the config can be made as it is written."""
    wrong = 0
    for name in config.models:
        try:
            config.model(name)
        except PspError as error:
            wrong += 1
            yield Finding("config", str(error), "correct it", broken=True)
    yield Finding("config", f"{len(config.models) - wrong} of {len(config.models)} models can be made")


def language_identification(config: Config, folder: Path) -> Iterator[Finding]:
    """Whether both identifiers load; fastText's model is a download."""
    from psp.config.downloads import FOLDER  # here, since it needs packages that a bare installation lacks

    name = "language identification"
    path = folder / FOLDER / config.lid()
    if path.exists():
        from psp.pairs.filters.language import LanguageFilter

        try:
            LanguageFilter({}, ("en", "fr"), {"lid": path}).load()
            yield Finding(name, f"fastText's {path.name} loads")
        except PspError as error:
            yield Finding(name, str(error), f"remove {path}; the next run downloads it again", broken=True)
    else:
        yield Finding(name, f"fastText's {path.name} is downloaded by the first run that needs it")
    try:
        from psp.text.language_scores import LanguageScores

        yield Finding(name, f"py3langid knows {len(LanguageScores().labels)} languages")
    except PspError as error:
        yield Finding(name, str(error), f"run `pip install '{PACKAGE}[data]'`", broken=True)


def local_files(config: Config) -> Iterator[Finding]:
    """The missing local files that models of the config name."""
    absent: dict[str, list[str]] = {}
    for name in config.models:
        with contextlib.suppress(PspError):  # of a model whose entry is wrong, which :func:`entries` reports
            for file in config.absent(config.model(name)):
                absent.setdefault(file, []).append(name)
    for file, models in absent.items():
        yield Finding("corpora", f"{file}, for {', '.join(models)}: no such file", "add it, or correct its path")


def addresses(config: Config) -> Iterator[Finding]:
    """Whether each address of the config answers, tried with one needed file for each kind of download and server."""
    from psp.corpora.download import answers

    asked: dict[tuple[str, str], tuple[str, str]] = {}
    for model in config.models:
        with contextlib.suppress(PspError):
            for name in config.downloads(config.model(model)):
                for address in config.remote(name).mirrors:
                    host = urllib.parse.urlsplit(address).netloc.rpartition("@")[2] or "this machine"
                    asked.setdefault((name.partition("/")[0], host), (name, address))
    works: dict[str, bool] = {}
    findings = []
    for (kind, host), (name, address) in asked.items():
        problem = answers(address)
        works[kind] = works.get(kind, False) or problem is None
        findings.append((kind, host, name, problem))
    for kind, host, name, problem in findings:
        if problem is None:
            yield Finding("addresses", f"{host} has {name}")
        else:
            mend = "another mirror answers" if works[kind] else "correct the mirror, or try again later; see `sources`"
            yield Finding("addresses", f"{host}: {name}: {problem}", mend, broken=not works[kind])


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"
