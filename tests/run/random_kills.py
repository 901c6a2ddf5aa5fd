"""A small federation that is killed again and again, as a whole process, and goes on.

    random_kills.py DFROST kills COUNT [SEED]   kills at random moments (of CPU time, so that a busy machine does not move
                                                them past the end), several to a run; then every file is compared with
                                                that of an unbroken run. Ends with 1 where any differs
    random_kills.py DFROST signals              SIGINT, SIGTERM and SIGHUP save every round that is done, however rarely it
                                                saves by itself; under nohup it outlives its terminal
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from run_folder import differences, left_by

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import small_experiment  # noqa: E402

PATIENCE = 120  # seconds for anything; a busy machine is no failure

dfrost, what = os.path.abspath(sys.argv[1]), sys.argv[2]


def command(name, *more, rounds=4, every=1):
    small_experiment.write(name, {"run.rounds": rounds, "run.checkpoint_every": every})
    return [dfrost, "run", name + ".toml", "--quiet", "--no-report", *more]


def run(*arguments):
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def cpu_seconds(pid):
    """That a process has used: how far it has come, however busy the machine is. Nothing where it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # its CPU clock, as clock_getcpuclockid(3) makes it
    except OSError:
        return None


def rounds_saved(name):
    return max((int(path.stem.split("-")[1]) for path in Path("runs", name, "checkpoints").glob("round-*.safetensors")), default=0)


class Took:
    """CPU seconds of an unbroken run: to begin and end, and for a round."""

    def __init__(self, name):
        self.whole = self._of(command(name))
        self.around = min(self.whole, self._of(command(name, "--resume")))  # a finished one has nothing left to do
        self.round = (self.whole - self.around) / rounds_saved(name)
        self.rounds = rounds_saved(name)

    @staticmethod
    def _of(arguments):
        before = os.times()
        run(*arguments)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    def left(self, name):
        return self.around + self.round * (self.rounds - rounds_saved(name))


def killed_after(process, seconds):
    """Whether it was killed once it had used so much CPU time; it may end before."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None:
        assert time.monotonic() < deadline, "it does not end"
        used = cpu_seconds(process.pid)
        if used is not None and used >= seconds:
            process.kill()
            process.wait()
            return process.returncode == -signal.SIGKILL
        time.sleep(0.0005)
    return False


def killed(name, took, kills):
    """Runs to its end, killed `kills` times on the way if it takes that long; how often it was."""
    done = 0
    while True:
        moment = random.uniform(0, took.left(name)) if done < kills else float("inf")
        with open(name + ".said", "w+b") as said:
            process = subprocess.Popen(command(name, "--resume"), stdout=subprocess.DEVNULL, stderr=said)
            if killed_after(process, moment):
                done += 1
                continue
            said.seek(0)
            assert process.returncode == 0, said.read().decode()
        os.remove(name + ".said")
        return done


def kills(count):
    random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    took = Took("whole")
    expected = left_by("runs/whole")
    done = differing = runs = 0
    while done < count:
        name = f"run-{runs}"
        done += killed(name, took, random.randint(1, 8))
        runs += 1
        if files := differences(left_by(Path("runs", name)), expected):
            differing += 1
            print(f"{name} differs: {files}")
            shutil.copytree(Path("runs", name), Path(tempfile.gettempdir(), "differs-" + name), dirs_exist_ok=True)
        shutil.rmtree(Path("runs", name))
        os.remove(name + ".toml")
        if runs % 50 == 0:
            print(f"so far {done} kills in {runs} runs, {differing} differences", flush=True)
    print(f"{done} kills in {runs} runs of {took.whole:.2f} CPU seconds: {differing} differences")
    sys.exit(differing != 0)


def rounds_in(name):
    try:
        return Path("runs", name, "metrics.jsonl").read_text().count("\n")
    except FileNotFoundError:
        return 0


def start_and_wait(name, *before):
    """A run that saves nothing by itself, once it has some rounds to lose."""
    process = subprocess.Popen([*before, *command(name, rounds=100_000, every=0)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + PATIENCE
    while rounds_in(name) < 2:
        assert process.poll() is None and time.monotonic() < deadline, "no rounds"
        time.sleep(0.01)
    return process


def signals():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell starts what is to run in the background
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        name = sent.name.lower()
        process = start_and_wait(name)
        process.send_signal(sent)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1 and "saved" in said, (sent, process.returncode, said)
        saved = [int(path.stem.split("-")[1]) for path in Path("runs", name, "checkpoints").iterdir()]
        assert saved and max(saved) == rounds_in(name), (sent, saved, rounds_in(name))
    process = start_and_wait("nohup", "nohup")
    process.send_signal(signal.SIGHUP)
    before = rounds_in("nohup")
    deadline = time.monotonic() + PATIENCE
    while rounds_in("nohup") < before + 3:
        assert process.poll() is None and time.monotonic() < deadline, "nohup is of no use"
        time.sleep(0.01)
    process.kill()
    process.communicate()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    small_experiment.write_pictures()
    kills(int(sys.argv[3])) if what == "kills" else signals()
