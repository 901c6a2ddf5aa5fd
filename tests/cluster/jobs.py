"""Whole jobs, as mpirun starts them: ranks that differ, that are lost, that are stopped.

    jobs.py MPIRUN DFROST short               each once
    jobs.py MPIRUN DFROST absent              of a dfrost that was built without MPI
    jobs.py MPIRUN DFROST chaos COUNT [SEED]  kills of random ranks at random moments, each time gone on with by another
                                              number of ranks; then every file is compared with that of one process
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("run", "support")]
import small_experiment  # noqa: E402
from run_folder import differences, left_by  # noqa: E402

FROST_MINI_BLOCK_WEIGHTS = 2_654_208  # numbers in the matrices of its blocks
PATIENCE = 120  # seconds for anything; a busy machine is no failure

mpirun, dfrost, what = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def write_config(name="job", rounds=4, every=1, pictures="pictures", batch=8):
    small_experiment.write(name, {"run.name": "job", "run.rounds": rounds, "run.checkpoint_every": every,
                                  "data.domains": {"name": "squares", "path": pictures}, "partition.clients_per_domain": 4,
                                  "network.topology": "ring", "train.batch": batch})
    return [dfrost, "run", name + ".toml", "--quiet", "--no-report"]


def job(ranks, *command):
    return [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def start(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def ranks_of(process):
    """The processes that it started, by rank."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) != process.pid:
                continue
            environment = (stat.parent / "environ").read_bytes()
        except (OSError, IndexError):
            continue
        if match := re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environment):
            found[int(match[1])] = int(stat.parent.name)
    return found


def rounds_done():
    try:
        return Path("runs/job/metrics.jsonl").read_text().count("\n")
    except FileNotFoundError:
        return 0


def wait_for_rounds(process, count):
    deadline = time.monotonic() + PATIENCE
    while rounds_done() < count:
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)


def newest_saved():
    return max(int(path.stem.split("-")[1]) for path in Path("runs/job/checkpoints").glob("*.safetensors"))


def ranks_that_differ_are_refused():
    plain = write_config()
    for difference, words in (({"batch": 4}, ["train.batch", "4 there, 8 at rank 0"]),
                              ({"pictures": "others"}, ["the training pictures"]),
                              ({"pictures": "nowhere"}, ["cannot start", "nowhere"])):
        result = run([*job(2, *plain), ":", "-n", "1", *write_config("other", **difference)])
        assert result.returncode != 0 and "rank 2 on" in result.stderr, result.stderr
        assert all(word in result.stderr for word in words), result.stderr
        assert not Path("runs").exists(), "it wrote something"


def one_process_says_who_did_what():
    result = run(job(3, *write_config(rounds=1)))
    assert result.returncode == 0, result.stderr
    ranks = json.loads(Path("runs/job/about.json").read_text())["ranks"]
    assert sorted(client for rank in ranks for client in rank["clients"]) == [0, 1, 2, 3], ranks
    assert sorted(rank["work"] for rank in ranks) == [4, 4, 8], ranks
    assert "rank 2 of 3:" in Path("runs/job/run.log").read_text()
    shutil.rmtree("runs")


def shared_pieces(process):
    """Of a rank's memory that others of its host may hold too: bytes in RAM, and this rank's part of them, by inode."""
    pieces = {}
    inode = None
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        words = line.split()
        if re.fullmatch(r"[0-9a-f]+-[0-9a-f]+", words[0]):
            inode = words[4] if "/memfd:dfrost-shared" in line else None
        elif inode and words[0] in ("Rss:", "Pss:"):
            of_inode = pieces.setdefault(inode, {"Rss:": 0, "Pss:": 0})
            of_inode[words[0]] += 1024 * int(words[1])
    return pieces


def ranks_of_a_host_hold_the_model_once():
    process = start(job(4, *write_config(rounds=100_000)))
    wait_for_rounds(process, 2)
    pieces = [shared_pieces(rank) for rank in ranks_of(process).values()]
    said = Path("runs/job/run.log").read_text()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    shutil.rmtree("runs")
    if "a model of its own" in said:
        print("SKIPPED: ranks may not look into each other's /proc here, so that nothing is shared:", said)
        return
    packed = 4 * 2 * FROST_MINI_BLOCK_WEIGHTS  # fp32, forward and backward
    assert len(pieces) == 4 and len({inode for rank in pieces for inode in rank}) == 1, pieces
    parts = [next(iter(rank.values())) for rank in pieces]
    assert min(part["Rss:"] for part in parts) >= 0.9 * packed, (parts, packed)
    assert sum(part["Pss:"] for part in parts) <= 1.1 * max(part["Rss:"] for part in parts), parts


def a_lost_rank_is_named_and_costs_no_round_that_is_saved(lost):
    command = write_config(rounds=100_000)
    process = start(job(3, *command))
    wait_for_rounds(process, 2)
    os.kill(ranks_of(process)[lost], signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0 and f"lost rank {lost} on" in said, said
    assert f"go on after round {newest_saved()} " in said, (newest_saved(), said)
    shutil.rmtree("runs")


def a_stop_saves_every_round_that_is_done():
    process = start(job(2, *write_config(rounds=100_000, every=0)))
    wait_for_rounds(process, 2)
    done = rounds_done()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0 and "are saved" in said, said
    # More may have been recorded since, in the moment that is left when all is saved.
    assert newest_saved() >= done, (newest_saved(), done)
    shutil.rmtree("runs")


STUDY = """
title = "Rates"
seeds = [1, 2]
[base]
config = "job.toml"
[[axis]]
name = "rate"
key = "train.learning_rate"
values = [0.001, 0.01, 0.1]
[[table]]
name = "accuracy"
rows = "rate"
"""


# The runs of a study are divided among the ranks, and one of them makes the page that one process makes.
def a_study_is_made_by_all_ranks():
    write_config(rounds=2)
    Path("rates.toml").write_text(STUDY)
    page = {}
    for name, ranks in (("alone", 1), ("ranks", 3)):
        command = [dfrost, "study", "rates.toml", "--quiet", "--runs", name, "--out", name + "-page"]
        result = run(command if ranks == 1 else job(ranks, *command))
        assert result.returncode == 0, result.stderr
        assert len(os.listdir(name)) == 6 and result.stdout.count("page ") == 1, result.stdout
        page[name] = re.sub(r"\d+ seconds of computing", "", Path(name + "-page", "page.html").read_text())
    assert page["ranks"] == page["alone"]
    # A run that fails at one rank is told of by the first.
    Path("rates.toml").write_text(STUDY.replace("0.001, 0.01, 0.1]", "0.001, 0.01]").replace(
        "[[table]]", '[[axis]]\nname = "b"\nvalues = [{name = "gone", set = {backbone.path = "no/model.safetensors"}}]\n[[table]]'))
    result = run(job(2, dfrost, "study", "rates.toml", "--quiet", "--seeds", "1", "--runs", "failed", "--out", "failed-page"))
    assert result.returncode != 0 and "2 of 2 runs failed" in result.stderr, result.stderr
    for folder in ("alone", "ranks", "failed"):
        shutil.rmtree(folder, ignore_errors=True)


def a_build_without_mpi_says_so():
    command = write_config(rounds=1)
    result = run(job(2, *command))
    assert result.returncode != 0 and "built without MPI" in result.stderr, result.stderr
    assert not Path("runs").exists(), "it wrote something"
    assert run(command).returncode == 0


def chaos(count, seed):
    random.seed(seed)
    command = write_config(rounds=8)
    assert run(command).returncode == 0
    expected = left_by("runs/job")
    shutil.rmtree("runs")
    done, runs = 0, 0
    while done < count:
        kills = random.randint(1, 4)
        while True:
            ranks = random.choice([1, 2, 3, 5])
            process = start(job(ranks, *command, "--resume"))
            if kills == 0:
                _, said = process.communicate(timeout=PATIENCE)
                assert process.returncode == 0, said
                break
            try:
                process.wait(timeout=random.uniform(0.5, 4))
                break
            except subprocess.TimeoutExpired:
                there = ranks_of(process)
                if there:
                    os.kill(random.choice(list(there.values())), signal.SIGKILL)
                    kills -= 1
                    done += 1
                process.communicate(timeout=PATIENCE)
        found = differences(left_by("runs/job"), expected)
        assert not found, f"run {runs} differs from one process: {found}"
        shutil.rmtree("runs")
        runs += 1
    print(f"{done} kills of ranks in {runs} runs: all as one process")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    small_experiment.write_pictures()
    small_experiment.write_pictures("others", brighter=1)
    if what == "chaos":
        chaos(int(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    elif what == "absent":
        a_build_without_mpi_says_so()
    else:
        ranks_that_differ_are_refused()
        one_process_says_who_did_what()
        ranks_of_a_host_hold_the_model_once()
        a_lost_rank_is_named_and_costs_no_round_that_is_saved(2)
        a_lost_rank_is_named_and_costs_no_round_that_is_saved(0)
        a_stop_saves_every_round_that_is_done()
        a_study_is_made_by_all_ranks()
