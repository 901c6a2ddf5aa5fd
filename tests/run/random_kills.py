"""A small federation that is killed again and again, as a whole process, and goes on.

    random_kills.py DFROST kills COUNT [SEED]   kills at random moments, several to a run; then every file is compared with
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


def killed(name, took, kills):
    """Runs to its end, killed up to `kills` times on the way; how often it was."""
    done = 0
    while True:
        process = subprocess.Popen(command(name, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, said = process.communicate(timeout=random.uniform(0, took) if done < kills else PATIENCE)
        except subprocess.TimeoutExpired:
            assert done < kills, "it does not end"
            process.kill()
            process.communicate()
            done += 1
            continue
        assert process.returncode == 0, said.decode()
        return done


def kills(count):
    random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    run(*command("whole"))  # once to warm the machine up
    shutil.rmtree("runs/whole")
    start = time.monotonic()
    run(*command("whole"))
    took = time.monotonic() - start
    expected = left_by("runs/whole")
    done = differing = runs = 0
    while done < count:
        name = f"run-{runs}"
        done += killed(name, took, random.randint(1, 4))
        runs += 1
        if files := differences(left_by(Path("runs", name)), expected):
            differing += 1
            print(f"{name} differs: {files}")
            shutil.copytree(Path("runs", name), Path(tempfile.gettempdir(), "differs-" + name), dirs_exist_ok=True)
        shutil.rmtree(Path("runs", name))
        os.remove(name + ".toml")
        if runs % 50 == 0:
            print(f"so far {done} kills in {runs} runs, {differing} differences", flush=True)
    print(f"{done} kills in {runs} runs of {took:.2f} s: {differing} differences")
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
