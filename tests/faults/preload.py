"""Small libraries that change what the system says to a run, compiled as they are needed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

#: No locks, as on some network drives.
LOCKS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>

int flock(int fd, int what) { errno = ENOLCK; return -1; }

static int locks(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
#define REPLACED(NAME)                                                         \
    int NAME(int fd, int command, ...) {                                       \
        static int (*real)(int, int, void *);                                  \
        va_list rest;                                                          \
        va_start(rest, command);                                               \
        void *argument = va_arg(rest, void *);                                 \
        va_end(rest);                                                          \
        if (locks(command)) { errno = ENOLCK; return -1; }                     \
        if (!real) real = dlsym(RTLD_NEXT, #NAME);                             \
        return real(fd, command, argument);                                    \
    }
REPLACED(fcntl)
REPLACED(fcntl64)
"""
#: A clock that is a day behind while a file is there, which PSP_FAULT_CLOCK names.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DAY 86400
static int back(void) {
    const char *name = getenv("PSP_FAULT_CLOCK");
    return name && access(name, F_OK) == 0;
}
int clock_gettime(clockid_t clock, struct timespec *found) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, found);
    if (!status && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && back()) found->tv_sec -= DAY;
    return status;
}
int gettimeofday(struct timeval *found, void *zone) {
    struct timespec now;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    if (!status && found) { found->tv_sec = now.tv_sec; found->tv_usec = now.tv_nsec / 1000; }
    return status;
}
time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}
"""


def compiled(source: str, folder: Path) -> Path | None:
    """A library of this source; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    folder.mkdir()
    (folder / "it.c").write_text(source)
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(folder / "it.so"), str(folder / "it.c"), "-ldl"]
    subprocess.run(command, check=True)
    return folder / "it.so"
