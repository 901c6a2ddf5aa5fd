"""What a call from Python costs over the same call in C++: dfrost.merge, model.features, a run with on_round.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_overhead.py

merge: the same call on sets so small that nothing but the call is left of it is all overhead that there can be, and beside it the time at
the paper's size, which `dfrost bench merge` has for C++ (N = 60, n = 10, d = 768). features: the compiled call beside the same with nothing to
compute. A run: with on_round and on_progress against without, by the time of processors, in rounds of some work and of hardly any; and merges in Python
against the same in C++. `merges`, `features`, `runs` or `own_merge` as an argument measures that alone.
"""

import sys
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
    """Of a whole run: seconds of processors that it took, those of the calling thread alone, seconds of its merges."""
    config = dfrost.Config.preset("mine", {"run.rounds": rounds, "network.topology": "full", "merge.kind": "average", "evaluate.every": 0})
    with tempfile.TemporaryDirectory() as folder:
        taken, here = time.process_time(), time.thread_time()
        run = dfrost.run(config, folder=folder, data=data, **how)
        return time.process_time() - taken, time.thread_time() - here, sum(r["seconds.merge"] for r in run.rounds)


def pairs(repeats, data, rounds, how):
    """[repeats, 2, costs]: without and with `how`, one after the other, the first of them in turn: a machine that grows slower is so for both."""
    found = []
    for index in range(repeats):
        both = [costs(data, rounds, **words) for words in (({}, how) if index % 2 else (how, {}))]
        found.append(both if index % 2 else both[::-1])
    return np.array(found)


def interval(values):
    """The mean of the middle half, and half the width of its 95 % interval: strays of a busy machine count little."""
    values = np.sort(values)
    middle = values[len(values) // 4:len(values) - len(values) // 4]
    resampled = np.sort(np.random.default_rng(0).choice(values, (2000, len(values))), axis=1)[:, len(values) // 4:len(values) - len(values) // 4].mean(1)
    low, high = np.quantile(resampled, (0.025, 0.975))
    return middle.mean(), (high - low) / 2


WATCHED = {"on_round": {"on_round": lambda r: r.accuracy_masked},
           "on_round and on_progress": {"on_round": lambda r: r.accuracy_masked, "on_progress": lambda *p: None}}


def runs(repeats=16):
    """What a call costs is seen in many rounds of next to no work; it is then compared with rounds of some work, and the whole with noise and all."""
    some, little = world(6, 8), world(2, 1)
    for name, how in WATCHED.items():
        usual, idle = pairs(repeats, some, 2, how), pairs(repeats, little, 40, how)
        a_round = usual[:, 0, 0].min() / 2
        call, error = (1e6 * value / 40 for value in interval(idle[:, 1, 0] - idle[:, 0, 0]))
        here, _ = (1e6 * value / 40 for value in interval(idle[:, 1, 1] - idle[:, 0, 1]))
        more, doubt = (100 * value for value in interval(usual[:, 1, 0] / usual[:, 0, 0] - 1))
        print(f"{name}: {call:.0f} +- {error:.0f} us of processors a round, {here:.0f} of them in the calling thread;\n"
              f"  at most {1e-4 * (call + error) / a_round:.3f} % of a round of 6 clients with 8 pictures ({1e3 * a_round:.0f} ms of processors); "
              f"such runs against runs without: {more:+.2f} +- {doubt:.2f} %")


def own_merge(repeats=16):
    """An average in NumPy against the same in C++: the way into Python and back, copies of the sets, and the plan that records ask for of any merge."""
    own = pairs(repeats, world(6, 1), 8, {"merge": lambda sets: np.tensordot(sets.weights, np.asarray(sets, np.float64), 1)})
    more, error = (1e6 * value / 48 for value in interval(own[:, 1, 0] - own[:, 0, 0]))
    cpp, python = 1e6 * own[:, :, 2].min(0) / 48
    print(f"a merge of 6 sets of 10 x 192 in Python: {more:.0f} +- {error:.0f} us of processors more than in C++; {python:.0f} us instead of {cpp:.0f} passed, at best")


if __name__ == "__main__":
    for part in sys.argv[1:] or ("merges", "features", "runs", "own_merge"):
        globals()[part]()
