"""merge, wasserstein2, barycenter and consensus_error: the commands' values, POT's values, no copies, no leaks, threads."""

import gc
import resource
import threading
import unittest

import numpy as np
import ot
import torch
from world import Case, command, command_json, read_tensor, write_prompts

import dfrost


def sets(count=3, rows=4, width=16, seed=5):
    random = np.random.default_rng(seed)
    return [random.standard_normal((rows, width), dtype=np.float32) for _ in range(count)]


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
        for wrong in ({"epsilon": -1.0}, {"kind": "mean"}, {"weights": [1.0]}):
            with self.assertRaises(ValueError):
                dfrost.merge([a, b], **wrong)
        with self.assertRaises(ValueError):
            dfrost.merge([a, b[:, :3]])

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
