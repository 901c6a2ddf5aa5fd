"""`dfrost run` on real pictures with a real backbone, as a user would run it.

    real_run.py DFROST SHARED_DATA learns   loss falls; D-FROST beats the untrained model and clients on their own
    real_run.py DFROST SHARED_DATA survives one thread = two threads = killed three times and resumed, byte for byte;
                                            so with Adam's moments kept from round to round
    real_run.py DFROST SHARED_DATA used     eval repeats the run's own figures, predict names classes, also of copies

Two domains (notMNIST letters, SVHN digits), four clients, DeiT-Tiny at a small input size to keep it short.
"""
import filecmp
import gzip
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

CONFIG = """
[run]
name = "{name}"
seed = 5
rounds = {rounds}
threads = {threads}
[backbone]
path = "{data}/deit_tiny/deit_tiny_patch16_224.safetensors"
precision = "fp32"
image_size = 64
[data]
domains = [{{name = "notmnist", path = "{data}/notmnist"}}, {{name = "svhn", path = "{data}/svhn"}}]
train_per_domain = {train}
test_per_domain = 60
[partition]
kind = "dirichlet"
alpha = 0.5
clients_per_domain = 2
min_per_client = 8
[network]
topology = "full"
[method]
name = "{method}"
[train]
learning_rate = 0.01
epochs = {epochs}
optimizer_state = "{state}"
[prompts]
count = 5
[evaluate]
every = {every}
clients = 4
samples = 60
[diagnostics]
theory = true
"""

dfrost, data, what = sys.argv[1:]
folder = tempfile.TemporaryDirectory()


def config(name, **settings):
    values = {"rounds": 3, "threads": 2, "train": 120, "method": "dfrost", "epochs": 3, "every": 1, "state": "fresh",
              **settings}
    path = os.path.join(folder.name, name + ".toml")
    with open(path, "w") as file:
        file.write(CONFIG.format(name=name, data=data, **values))
    return path


def command(path, *more):
    return [dfrost, "run", path, "--runs", folder.name, "--quiet", *more]


def run(name, *more, **settings):
    subprocess.run(command(config(name, **settings), *more), check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder.name, name, "summary.json")) as file:
        return json.load(file)


def rounds(name):
    with open(os.path.join(folder.name, name, "metrics.jsonl")) as file:
        return [json.loads(line) for line in file]


def learns():
    together = run("together", every=0)["final"]  # only the last round is scored: no other score is asked for
    alone = run("alone", method="local", every=0)["final"]
    untrained = run("untrained", rounds=0)["final"]
    history = rounds("together")
    print("together", together["accuracy_masked"], "alone", alone["accuracy_masked"], "untrained", untrained["accuracy_masked"])
    assert history[-1]["train_loss"] < 0.8 * history[0]["train_loss"], [r["train_loss"] for r in history]
    assert together["accuracy_masked"]["mean"] > untrained["accuracy_masked"]["mean"] + 0.10
    assert together["accuracy_masked"]["mean"] > 0.10 + 0.15, "masked chance is 10 %"
    assert together["accuracy_masked"]["mean"] > alone["accuracy_masked"]["mean"] + 0.03
    assert all(r["theory"]["checked"] == 4 and r["theory"]["violated"] == 0 for r in history)
    assert history[-1]["sent_messages"] == 12 and history[-1]["refused_messages"] == 0


def adapters(name):
    path = os.path.join(folder.name, name, "adapter")
    return path, sorted(os.listdir(path))


def killed_three_times(name, took, **settings):
    """A run that takes about `took` seconds, killed at three random moments before its end, then finished."""
    path = config(name, **settings)
    for _ in range(5):
        for kills in range(4):
            process = subprocess.Popen(command(path, "--resume"), stdout=subprocess.DEVNULL)
            try:
                process.wait(random.uniform(0.1, 0.25) * took if kills < 3 else 240)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                assert kills < 3, "it does not end"
                continue
            assert process.returncode == 0
            if kills == 3:
                return kills
            break  # the machine is faster now, and it ended before its time: once more from the start
        shutil.rmtree(os.path.join(folder.name, name))
    raise AssertionError("it always ended before it could be killed three times")


def require_same_adapters(reference, *others):
    path, names = adapters(reference)
    assert "network.safetensors" in names and "client-003.safetensors" in names and "card.json" in names, names
    for other in others:
        their_path, theirs = adapters(other)
        assert theirs == names
        for name in names:
            assert filecmp.cmp(os.path.join(path, name), os.path.join(their_path, name), shallow=False), (other, name)


def survives():
    small = {"rounds": 4, "train": 40, "epochs": 1, "every": 0}
    run("one", threads=1, **small)
    start = time.monotonic()
    run("two", threads=2, **small)
    took = time.monotonic() - start
    random.seed(11)
    killed_three_times("killed", took, **small)
    require_same_adapters("one", "two", "killed")
    assert [r["round"] for r in rounds("killed")] == [1, 2, 3, 4]
    merges = {name: open(os.path.join(folder.name, name, "merges.jsonl")).read() for name in ("one", "two", "killed")}
    assert merges["one"].count("\n") == 2, "the last round's merge of the first client of two domains"
    assert merges["one"] == merges["two"] == merges["killed"]
    run("kept", state="kept", **small)
    killed_three_times("kept-killed", took, state="kept", **small)
    require_same_adapters("kept", "kept-killed")
    assert not filecmp.cmp(*(os.path.join(adapters(name)[0], "network.safetensors") for name in ("one", "kept")))
    print("the same with one thread, two threads and after three kills; with optimizers that start fresh, and kept ones")


def dfrost_json(*arguments):
    return json.loads(subprocess.run([dfrost, *arguments, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def fails(*arguments):
    failed = subprocess.run([dfrost, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert failed.returncode != 0, arguments
    return failed.stderr


def svhn_picture(path):
    """The first test picture of SVHN as a PNG; returns its digit."""
    with gzip.open(os.path.join(data, "svhn", "test.bin.gz")) as file:
        record = np.frombuffer(file.read(3073), np.uint8)
    Image.fromarray(record[1:].reshape(3, 32, 32).transpose(1, 2, 0)).save(path)
    return str(record[0])


def used():
    final = run("used", rounds=1, train=40, epochs=1)["final"]
    where = os.path.join(folder.name, "used")
    score = dfrost_json("eval", where, "--clients")
    for name in ("accuracy_masked", "accuracy_unmasked"):
        assert score[name] == final["network_" + name], (score, final)
        clients = [client[name] for client in score["clients"]]
        assert abs(sum(clients) / 4 - final[name]["mean"]) < 1e-12 and min(clients) == final[name]["min"], clients
    for name, domain in final["network_domains"].items():
        assert score["domains"][name]["accuracy_masked"] == domain["accuracy_masked"]

    # A copy far from its run, on the data sets of one domain.
    lone = os.path.join(folder.name, "copy.safetensors")
    shutil.copy(os.path.join(where, "adapter", "network.safetensors"), lone)
    backbone = os.path.join(data, "deit_tiny", "deit_tiny_patch16_224.safetensors")
    part = dfrost_json("eval", lone, "--backbone", backbone, "--data", f"svhn={data}/svhn", "--samples", "30")
    assert part["samples"] == 30 and list(part["domains"]) == ["svhn"], part
    assert "--backbone" in fails("eval", lone, "--data", "svhn")
    assert "did you mean 'svhn'" in fails("eval", lone, "--backbone", backbone, "--data", "svnh")

    picture = os.path.join(folder.name, "digit.png")
    digit = svhn_picture(picture)
    document = dfrost_json("predict", "--adapter", where, "--top", "20", picture)
    classes = document["pictures"][0]["classes"]
    assert len(classes) == 20 and abs(sum(c["probability"] for c in classes) - 1) < 1e-9, classes
    assert {(c["domain"], c["name"]) for c in classes} >= {("svhn", digit), ("notmnist", "A")}, classes
    within = dfrost_json("predict", "--adapter", lone, "--backbone", backbone, "--domain", "svhn", picture)
    assert all(c["domain"] == "svhn" for c in within["pictures"][0]["classes"])

    # The same shape with one weight changed is another backbone.
    other = os.path.join(folder.name, "other.safetensors")
    with open(backbone, "rb") as file:
        raw = bytearray(file.read())
    raw[-4:] = struct.pack("<f", 1.0)
    with open(other, "wb") as file:
        file.write(raw)
    assert "another backbone" in fails("predict", "--adapter", where, "--backbone", other, picture)
    print(f"network model {100 * score['accuracy_masked']:.2f} %, as the run said; the digit is {digit}")


if not os.path.isdir(os.path.join(data, "deit_tiny")):
    print("SKIPPED: needs the real data in ../shared/data, absent here")
    sys.exit(77)
{"learns": learns, "survives": survives, "used": used}[what]()
