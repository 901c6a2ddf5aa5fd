"""A small run under one limit of memory after another, from what is too little to start to what is enough: it ends well, or
with an error that says so; never by a signal, and never with other numbers.

    memory_limits.py DFROST [STEPS]
"""
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import small_experiment  # noqa: E402

MEGABYTE = 1 << 20

dfrost = os.path.abspath(sys.argv[1])
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 12
program = Path(dfrost).read_bytes()
if b"__asan_init" in program or b"__tsan_init" in program:
    print("SKIPPED: sanitizers take terabytes of addresses")
    sys.exit(77)


def run(name, limit):
    small_experiment.write(name, {"run.rounds": 1, "run.threads": 2})
    return subprocess.run([dfrost, "run", name + ".toml", "--quiet", "--no-report"], text=True, capture_output=True, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def starts(limit):
    return subprocess.run([dfrost, "--version"], capture_output=True, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))).returncode == 0


def least(works, low, high):
    """To a megabyte, where `works` begins to hold."""
    while high - low > MEGABYTE:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def adapter(name):
    return Path("runs", name, "adapter", "network.safetensors").read_bytes()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    small_experiment.write_pictures()
    assert run("whole", resource.RLIM_INFINITY).returncode == 0
    tries = iter(range(10_000))
    start = least(starts, 0, 8 << 30)  # below it the system cannot even load the program
    enough = least(lambda limit: run(f"try-{next(tries)}", limit).returncode == 0, start, 8 << 30)
    failed = 0
    for step in range(steps):
        limit = start + (enough - start) * step // steps
        name = f"step-{step}"
        done = run(name, limit)
        if done.returncode == 0:
            assert adapter(name) == adapter("whole"), (limit, "other numbers")
            continue
        failed += 1
        assert done.returncode in (1, 3), (limit >> 20, done.returncode, done.stderr)
        said = done.stderr.lower()
        assert "error:" in said and ("memory" in said or "resource" in said), (limit >> 20, done.stderr)
    print(f"starts with {start >> 20} MB, runs with {enough >> 20} MB: {failed} of {steps} between end with an error")
    assert failed > 0
