"""Reads every hostile file with the command it is meant for: each must end by itself, with a result or an error that
says so, in at most 300 MB and four times the file's size, and in five seconds of the processor's time.

    run.py --dfrost PATH [--all]      --all prints what each took
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import files
import pictures

BASE_BYTES = 300_000_000
TIMES_FILE = 4
CPU_SECONDS = 5
FOLDER_TIMES = 5  # the whole folder of pictures at once
HANG_SECONDS = 60  # without a step forward: waits for something that never comes


def limit():
    most = CPU_SECONDS * FOLDER_TIMES + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)  # of its own clock, as clock_getcpuclockid(3) names it


def take(command, log):
    """Exit code (negative: a signal), the most memory in bytes, and the processor's seconds."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=limit)
    used_before, since = 0.0, time.monotonic()
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid != 0:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime
        # On a busy machine it may take minutes and not hang; one that hangs uses no time.
        if (now := cpu_seconds(process.pid)) > used_before:
            used_before, since = now, time.monotonic()
        elif time.monotonic() - since > HANG_SECONDS:
            process.kill()
        time.sleep(0.005)


def judge(name, path, command, home):
    log_path = home / "log"
    with log_path.open("wb") as log:
        code, peak, seconds = take(command, log)
    said = log_path.read_bytes()
    size = path.stat().st_size if path.exists() and path.is_file() else 0
    allowed = BASE_BYTES + TIMES_FILE * size
    complaints = []
    if code < 0 or code > 3:
        complaints.append(f"ended with {code}")
    if code != 0 and b"error: " not in said:
        complaints.append("no error was told")
    if len(said) > 20_000:
        complaints.append(f"printed {len(said)} bytes")
    if peak > allowed:
        complaints.append(f"took {peak / 1e6:.0f} MB, more than {allowed / 1e6:.0f}")
    if seconds > CPU_SECONDS * (1 if size else FOLDER_TIMES):
        complaints.append(f"took {seconds:.1f} s")
    line = f"{name:<28} {size:>10} B  exit {code}  {peak / 1e6:>6.0f} MB  {seconds:>5.2f} s"
    return line, complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfrost", required=True)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        cases = [(name, path, ["classify", "--backbone", "frost-mini", path])
                 for name, path in pictures.make(home / "pictures")]
        cases.append(("all pictures", home / "pictures", ["data", "show", home / "pictures"]))
        for name, path, words in cases + list(files.make(home)):
            line, complaints = judge(name, path, [arguments.dfrost, *map(str, words)], home)
            count += 1
            failed += bool(complaints)
            if arguments.all or complaints:
                print(line, *complaints, sep="  ")
    print(f"{count} files, {failed} failed")
    sys.exit(1 if failed else 0)


main()
