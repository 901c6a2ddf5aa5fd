"""What a call from Python costs over the same call in C++: dfrost.merge, model.features, a run with on_round.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_overhead.py

merge: the same call on sets so small that nothing but the call is left of it is all overhead that there can be, and beside it the time at
the paper's size, which `dfrost bench merge` has for C++ (N = 60, n = 10, d = 768). features: the compiled call beside the same with nothing to
compute. A run: with on_round and on_progress against without, in rounds of some work and of hardly any; and merges in Python against the same in C++.
"""

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
    start = random.uniform(-0.0395, 0.0395, (10, 768)).astype(np.float32)  # as those of `dfrost bench merge`
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


def world(clients, pictures):
    random = np.random.default_rng(2)

    def some(count):
        return random.integers(0, 255, (count, 32, 32, 3), dtype=np.uint8), np.arange(count) % 4
    return dfrost.Data([some(pictures) for _ in range(clients)], some(4), ["a", "b", "c", "d"])


def costs(data, rounds, **how):
    """Of a whole run: seconds that passed, seconds of processors that it took, seconds of its merges."""
    config = dfrost.Config.preset("mine", {"run.rounds": rounds, "network.topology": "full", "merge.kind": "average", "evaluate.every": 0})
    with tempfile.TemporaryDirectory() as folder:
        passed, taken = time.perf_counter(), time.process_time()
        run = dfrost.run(config, folder=folder, data=data, **how)
        return time.perf_counter() - passed, time.process_time() - taken, sum(r["seconds.merge"] for r in run.rounds)


def in_turn(repeats, data, rounds, ways):
    """name -> the least of each cost: what else runs on the machine only adds. In turn, so that a machine that grows slower is so for all."""
    found = {name: [] for name in ways}
    for _ in range(repeats):
        for name, how in ways.items():
            found[name].append(costs(data, rounds, **how))
    return {name: [min(values) for values in zip(*each)] for name, each in found.items()}


ALONE = {"alone": {}}
WATCHED = {"on_round": {"on_round": lambda r: r.accuracy_masked},
           "on_round and on_progress": {"on_round": lambda r: r.accuracy_masked, "on_progress": lambda *p: None}}


def runs():
    found = in_turn(9, world(6, 16), 4, ALONE | WATCHED)
    usual = found["alone"]
    for name, least in found.items():
        more = [100 * (a / b - 1) for a, b in zip(least, usual)]
        print(f"4 rounds of 6 clients with 16 pictures, {name}: {least[0]:.3f} s ({more[0]:+.2f} %), of processors {least[1]:.3f} s ({more[1]:+.2f} %)")
    # Rounds of next to no work show what a call costs, where those above hide it in their noise.
    found = in_turn(9, world(2, 1), 60, ALONE | WATCHED)
    for name in WATCHED:
        call = [(a - b) / 60 for a, b in zip(found[name], found["alone"])]
        print(f"{name}: {1e6 * call[0]:.0f} us a round, of processors {1e6 * call[1]:.0f}: {100 * call[0] / (usual[0] / 4):.3f} % of a round above")
    found = in_turn(3, world(6, 4), 4, {"C++": {}, "Python": {"merge": lambda sets: np.tensordot(sets.weights, np.asarray(sets, np.float64), 1)}})
    print("24 merges:", ", ".join(f"in {name} {1e3 * least[2]:.1f} ms" for name, least in found.items()))


if __name__ == "__main__":
    merges()
    features()
    runs()
