"""What a call from Python costs over the same call in C++: dfrost.merge, model.features, a run with on_round.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_overhead.py

merge: the same call on sets so small that nothing but the call is left of it is all overhead that there can be, and beside it the time at
the paper's size, which `dfrost bench merge` has for C++ (N = 60, n = 10, d = 768). features: the compiled call beside the same with nothing to compute. A run: with on_round and on_progress against without,
and with a merge in Python against the same merge in C++.
"""

import statistics
import tempfile
import time

import numpy as np

import dfrost


def best(call, repeats):
    """Seconds of the fastest call: what else runs on the machine only adds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def merges():
    random = np.random.default_rng(1)
    start = random.standard_normal((10, 768), dtype=np.float32) * np.float32(0.1)
    sets = [start + random.standard_normal((10, 768), dtype=np.float32) * np.float32(0.01) for _ in range(6)]
    tiny = [np.ones((1, 1), np.float32)] * 6
    empty = best(lambda: dfrost.merge(tiny, steps=1), 2000)
    print(f"merge, 6 sets of 10 x 768, 50 steps: {1e6 * best(lambda: dfrost.merge(sets), 500):.0f} us; of 1 x 1, one step: {1e6 * empty:.1f} us")


def features():
    model = dfrost.Backbone("frost-mini", precision="fp32", threads=1)
    images = model.preprocess(np.zeros((16, 32, 32, 3), np.uint8))
    prompts = np.zeros((10, model.geometry.width), np.float32)
    patches = model.embed(images)
    whole = best(lambda: model.features(patches, prompts), 20)
    nothing = best(lambda: model.features(patches[:0], prompts), 2000)
    print(f"features, 16 pictures, one thread: {1e3 * whole:.2f} ms; of no picture: {1e6 * nothing:.1f} us, {100 * nothing / whole:.3f} %")


def runs():
    random = np.random.default_rng(2)

    def some(count):
        return random.integers(0, 255, (count, 32, 32, 3), dtype=np.uint8), np.arange(count) % 4
    data = dfrost.Data([some(4) for _ in range(6)], some(4), ["a", "b", "c", "d"])
    config = dfrost.Config.preset("mine", {"run.rounds": 4, "network.topology": "full", "merge.kind": "average", "evaluate.every": 0})

    def seconds(**how):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            run = dfrost.run(config, folder=folder, data=data, **how)
            return time.perf_counter() - start, sum(r["seconds.merge"] for r in run.rounds)
    ways = {"alone": {}, "watched": {"on_round": lambda r: r.accuracy_masked, "on_progress": lambda *p: None},
            "merged in Python": {"merge": lambda sets: np.tensordot(sets.weights, np.asarray(sets, np.float64), 1)}}
    found = {name: [] for name in ways}
    for _ in range(5):  # in turn, so that a machine that grows slower is so for all
        for name, how in ways.items():
            found[name].append(seconds(**how))
    for name, values in found.items():
        print(f"run {name}: {min(v[0] for v in values):.3f} s (median {statistics.median(v[0] for v in values):.3f}), merges "
              f"{1e3 * min(v[1] for v in values):.1f} ms of 24")


if __name__ == "__main__":
    merges()
    features()
    runs()
