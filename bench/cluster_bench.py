"""What ranks cost beside threads, with a ViT-B/32 of random weights, each way by turns in one run.

    cluster_bench.py MPIRUN DFROST speed [TURNS]   two ranks against one rank and against one process with two threads
    cluster_bench.py MPIRUN DFROST memory          four ranks against one process with one thread and with four

With `--bf16` in place of fp32. Prints JSON. The least time of a round over all turns stands for each way; `others` says how busy other programs kept
the machine meanwhile. Without `--small` (a toy model, to try the script itself) it takes 1.1 GB and some minutes.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

CONFIG = """
run = {rounds = 3, checkpoint_every = 1}
method.name = "dfrost"
backbone = {path = "model.safetensors", precision = "PRECISION", preprocessing = "augreg"}
data.domains = [{name = "noise", path = "pictures"}]
data.train_per_domain = 0
data.test_per_domain = 0
partition = {kind = "iid", clients_per_domain = 4, min_per_client = 1}
network.topology = "ring"
train.epochs = 1
evaluate = {every = 0, clients = 1, samples = 1}
"""
CLIENTS, PICTURES = 4, 16  # of each
small, bf16 = "--small" in sys.argv, "--bf16" in sys.argv
arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
mpirun, dfrost, what = os.path.abspath(arguments[0]), os.path.abspath(arguments[1]), arguments[2]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def write_model(path, width, depth, patch):
    """In timm's names and shapes."""
    shapes = {"cls_token": (1, 1, width), "pos_embed": (1, (224 // patch) ** 2 + 1, width),
              "patch_embed.proj.weight": (width, 3, patch, patch), "patch_embed.proj.bias": (width,),
              "norm.weight": (width,), "norm.bias": (width,)}
    for block in range(depth):
        for name, outputs, inputs in (("attn.qkv", 3 * width, width), ("attn.proj", width, width),
                                      ("mlp.fc1", 4 * width, width), ("mlp.fc2", width, 4 * width)):
            shapes[f"blocks.{block}.{name}.weight"] = (outputs, inputs)
            shapes[f"blocks.{block}.{name}.bias"] = (outputs,)
        for norm in ("norm1", "norm2"):
            shapes[f"blocks.{block}.{norm}.weight"] = shapes[f"blocks.{block}.{norm}.bias"] = (width,)
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * int(numpy.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = numpy.random.default_rng(1)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            values = 0.02 * random.standard_normal(shape, dtype=numpy.float32)
            file.write((values + ("norm" in name and name.endswith("weight"))).astype(numpy.float32).tobytes())


def write_pictures(folder):
    random = numpy.random.default_rng(2)
    os.mkdir(folder)
    for name, count in (("train", CLIENTS * PICTURES), ("test", 8)):
        pixels = random.integers(0, 256, (count, 3073), dtype=numpy.uint8)
        pixels[:, 0] = numpy.arange(count) % 4
        Path(folder, name + ".bin").write_bytes(pixels.tobytes())


def command(ranks, threads):
    """No ranks: a process that knows nothing of MPI."""
    name = f"run-{ranks}-{threads}"
    shutil.rmtree(Path("runs", name), ignore_errors=True)
    launcher = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks else []
    return name, [*launcher, dfrost, "run", "bench.toml", "--quiet", "--no-report", "--set", f"run.name={name}",
                  "--set", f"run.threads={threads}"]


def rounds_of(name):
    try:
        lines = Path("runs", name, "metrics.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines]


def processor_ticks():
    """All cores: all there were, and those in which something ran."""
    ticks = [int(word) for word in open("/proc/stat", encoding="ascii").readline().split()[1:9]]
    return sum(ticks), sum(ticks) - ticks[3] - ticks[4]


def timed(ranks, threads):
    """The second and third round: in the first, patches are embedded. And the share that other programs had."""
    name, words = command(ranks, threads)
    all_before, busy_before = processor_ticks()
    own_before = os.times()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    own = os.times()
    all_after, busy_after = processor_ticks()
    mine = (own.children_user + own.children_system - own_before.children_user - own_before.children_system) \
        * os.sysconf("SC_CLK_TCK")
    others = max(0, busy_after - busy_before - mine) / max(1, all_after - all_before)
    return rounds_of(name)[1:], others


def speed(turns):
    ways = {"one rank, 1 thread": (1, 1), "two ranks, 1 thread each": (2, 1), "one process, 2 threads": (0, 2)}
    best, others = {}, []
    for _ in range(turns):
        for way, (ranks, threads) in ways.items():
            rounds, busy = timed(ranks, threads)
            others.append(busy)
            for line in rounds:
                seconds = line["seconds"]["total"] - line["seconds"]["evaluate"]
                if way not in best or seconds < best[way]["seconds"]:
                    share = line["seconds"]["exchange"] / seconds
                    best[way] = {"seconds": seconds, "pictures_per_second": line["images"] / seconds,
                                 "exchange_percent": 100 * share, "sent_bytes": line["sent_bytes"]}
    one, two, threads = (best[way]["seconds"] for way in ways)
    # Rank 0 gathers the states of the clients that live elsewhere, half of them, and what is reported of each.
    state = Path("runs/run-0-2/adapter/client-000.safetensors").stat().st_size
    return {"rounds": best, "two_ranks_over_one": one / two, "two_ranks_over_two_threads": threads / two,
            "gathered_bytes_about": CLIENTS // 2 * state, "others": max(others)}


def descendants(process):
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    found, fresh = {process}, {process}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def proportional_bytes(process):
    """Of all that dfrost runs in: a page that several hold counts as a part of each."""
    sums = 0
    for pid in descendants(process):
        try:
            if os.readlink(f"/proc/{pid}/exe") != os.path.realpath(dfrost):
                continue
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        sums += 1024 * int(text.split("\nPss:")[1].split()[0])
    return sums


def memory():
    found = {}
    for way, (ranks, threads) in {"one process, 1 thread": (0, 1), "one process, 4 threads": (0, 4),
                                  "four ranks, 1 thread each": (4, 1)}.items():
        name, words = command(ranks, threads)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        starting, training = 0, 0
        while process.poll() is None:
            now = proportional_bytes(process.pid)
            starting, training = max(starting, now), max(training, now if rounds_of(name) else 0)
            time.sleep(0.2)
        assert process.returncode == 0, way
        found[way] = {"at_most": starting, "while_training": training}
    one, four, ranks = (way["at_most"] for way in found.values())
    return {"bytes": found, "four_ranks_over_four_threads": ranks / four, "four_ranks_over_one_thread": ranks / one}


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    Path("bench.toml").write_text(CONFIG.replace("PRECISION", "bf16" if bf16 else "fp32"))
    write_pictures("pictures")
    write_model("model.safetensors", *((128, 3, 32) if small else (768, 12, 32)))
    print(json.dumps(memory() if what == "memory" else speed(int(arguments[3]) if len(arguments) > 3 else 3), indent=1))
