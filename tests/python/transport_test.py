"""merge, wasserstein2, barycenter and consensus_error: the commands' values, POT's values, no copies, no leaks, threads."""

import gc
import pickle
import resource
import threading
import unittest
from pathlib import Path

import numpy as np
import ot
import torch
from world import Case, command, command_json, read_tensor, write_prompts

import dfrost


def sets(count=3, rows=4, width=16, seed=5):
    random = np.random.default_rng(seed)
    return [random.standard_normal((rows, width), dtype=np.float32) for _ in range(count)]


class OnAGraphicsCard:
    """As a tensor there answers."""

    dtype = "torch.float32"

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        raise RuntimeError("not on the CPU")


class Transport(Case):
    def files(self, arrays):
        names = []
        for index, array in enumerate(arrays):
            names.append(self.folder / f"{index}.safetensors")
            write_prompts(names[-1], array)
        return names

    def test_a_merge_is_the_bytes_of_the_command(self):
        arrays = sets()
        out = self.folder / "out.safetensors"
        for options, flags in (({}, []), ({"prompts": 6, "epsilon": 0.1, "lam": 0.01, "steps": 7}, [
                "--prompts", 6, "--epsilon", 0.1, "--lambda", 0.01, "--steps", 7]),
                ({"kind": "average", "weights": [0.5, 0.25, 0.25]}, ["--kind", "average", "--weights", "0.5,0.25,0.25"]),
                ({"kind": "barycenter"}, ["--kind", "barycenter"])):
            merged, summary = dfrost.merge(arrays, **options)
            said = command_json("merge", "--out", out, *flags, *self.files(arrays))
            self.assertEqual(merged.tobytes(), read_tensor(out).tobytes())
            self.assertEqual(summary.off_index_mass, said["off_index_mass"])
            self.assertAlmostEqual(summary.plan.sum(), 1, 12)

    def test_a_distance_is_that_of_the_command_and_of_pot(self):
        a, b = sets(2, 5)[0], sets(2, 7)[1]
        mass_a, mass_b = np.full(5, 0.2), np.arange(1, 8) / 28
        w2, plan = dfrost.wasserstein2(a, b)
        self.assertEqual(w2, command_json("distance", *self.files([a, b]))["w2_squared"] ** 0.5)
        w2, plan = dfrost.wasserstein2(a, b, mass_a, mass_b)
        cost = ot.dist(a.astype(float), b.astype(float))
        self.assertAlmostEqual(w2 ** 2, ot.emd2(mass_a, mass_b, cost), 9)
        self.assertClose(plan.sum(1), mass_a, 1e-12)
        self.assertClose(plan.sum(0), mass_b, 1e-12)
        self.assertAlmostEqual((plan * cost).sum(), w2 ** 2, 9)

    def test_a_barycenter_is_that_of_the_command_and_no_worse_than_pots(self):
        arrays = sets()
        points, objective = dfrost.barycenter(arrays)
        out = self.folder / "middle.safetensors"
        said = command_json("barycenter", "--out", out, *self.files(arrays))
        self.assertEqual((points.tobytes(), objective), (read_tensor(out).tobytes(), said["objective"]))
        theirs = ot.lp.free_support_barycenter([a.astype(float) for a in arrays], [ot.unif(4)] * 3, arrays[0].astype(float), ot.unif(4))
        cost = np.mean([ot.emd2(ot.unif(4), ot.unif(4), ot.dist(a.astype(float), theirs)) for a in arrays])
        self.assertLessEqual(objective, cost + 1e-9)

    def test_a_consensus_error_is_the_distances_to_its_barycenter(self):
        arrays = sets()
        found = dfrost.consensus_error(arrays)
        distances = [dfrost.wasserstein2(a, found.barycenter)[0] ** 2 for a in arrays]
        self.assertAlmostEqual(found.total, sum(distances), 5)
        self.assertAlmostEqual(found.error, np.mean(distances), 5)

    def test_tensors_and_slices_are_read_where_they_lie(self):
        a, b = sets(2)
        wide = np.zeros((8, 20), np.float32)
        wide[::2, 2:18] = a
        expected = dfrost.merge([a, b])[0].tobytes()
        self.assertEqual(dfrost.merge([torch.from_numpy(a), b])[0].tobytes(), expected)
        self.assertEqual(dfrost.merge([wide[::2, 2:18], torch.from_numpy(b)])[0].tobytes(), expected)

    def test_what_would_have_to_be_copied_is_refused_with_the_fix(self):
        a, b = sets(2)
        for bad, fix in ((a.astype(np.float64), "astype(np.float32)"), (np.asfortranarray(a), "np.ascontiguousarray(sets[1])"),
                         (torch.from_numpy(a).requires_grad_(), "detach()"), (a.tolist(), "np.asarray"), (a[0], "[None, :]"),
                         (a[::-1], "ascontiguousarray")):
            with self.assertRaises(ValueError) as caught:
                dfrost.merge([b, bad])
            self.assertIn(fix, caught.exception.hint)
            self.assertIsInstance(caught.exception, dfrost.Error)
        with self.assertRaises(ValueError):
            dfrost.merge([a, b[:, :3]])

    def test_tensors_that_numpy_cannot_look_at_get_the_fix_of_their_kind(self):
        a, _ = sets(2)
        unaligned = np.frombuffer(b"." + a.tobytes(), np.uint8)[1:].view(np.float32).reshape(a.shape)
        for bad, fix in ((torch.from_numpy(a).bfloat16(), ".to(torch.float32)"), (torch.ones(1, 16).expand(4, 16), ".contiguous()"),
                         (OnAGraphicsCard(), ".detach().cpu()"), (unaligned, ".copy()"), (np.ma.masked_less(a, 0), ".filled("),
                         (a[:0], "a row"), (Path("a.safetensors"), "dfrost.Adapter(file)")):
            with self.assertRaises(ValueError) as caught:
                dfrost.merge([bad])
            self.assertIn(fix, caught.exception.hint)

    def test_arguments_of_the_wrong_kind_are_named(self):
        a, b = sets(2)
        wrong = {"prompts": (-1, 2.5, "3", True, 10 ** 30), "steps": (-1, None, 1.5), "epsilon": ("small", None, -1.0, [1]), "seed": (-1, 0.5), "kind": (3, "mean"),
                 "early_stop": ("yes", 1), "weights": ([1.0], 0.5, "ab"), "init": ("previous",)}
        for name, values in wrong.items():
            for value in values:
                with self.assertRaises(dfrost.InvalidValue, msg=f"{name}={value!r}") as caught:
                    dfrost.merge([a, b], **{name: value})
                self.assertRegex(str(caught.exception), name)
        for call in (lambda: dfrost.barycenter([a, b], points=-1), lambda: dfrost.barycenter([a, b], threads=-1),
                     lambda: dfrost.consensus_error([a, b], prompts="x"), lambda: dfrost.consensus_error(a), lambda: dfrost.wasserstein2([a], b)):
            with self.assertRaises(dfrost.InvalidValue):
                call()
        self.assertEqual(dfrost.merge([a, b], prompts=np.int64(3), epsilon=np.float32(0.5), early_stop=np.bool_(True))[0].shape, (3, 16))

    def test_results_can_be_shown_and_pickled(self):
        for result in (dfrost.merge(sets(), steps=3)[1], dfrost.consensus_error(sets())):
            again = pickle.loads(pickle.dumps(result))
            for name in (name for name in dir(type(result)) if not name.startswith("_")):
                self.assertTrue(np.array_equal(getattr(again, name), getattr(result, name)), name)
            self.assertEqual(repr(again), repr(result))
            self.assertNotIn(" object at ", repr(result))

    def test_threads_merge_side_by_side(self):
        arrays = sets(5, 10, 64)
        expected = dfrost.merge(arrays)[0].tobytes()
        found = []
        threads = [threading.Thread(target=lambda: found.extend(dfrost.merge(arrays)[0].tobytes() for _ in range(20))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 80)

    def test_ten_thousand_calls_leave_nothing_behind(self):
        arrays = sets(2, 3, 8)
        tensor = torch.from_numpy(arrays[0])

        def calls(count):
            for _ in range(count):
                dfrost.merge([tensor, arrays[1]], steps=2)[1].plan
                try:
                    dfrost.merge([arrays[0].astype(np.float64)])
                except ValueError:
                    pass
            gc.collect()
            return len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        calls(500)
        objects, kilobytes = calls(500)
        objects_after, kilobytes_after = calls(10_000)
        self.assertLess(objects_after - objects, 50)
        self.assertLess(kilobytes_after - kilobytes, 2048)


if __name__ == "__main__":
    unittest.main()
