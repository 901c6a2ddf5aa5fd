"""Backbone: features and their gradient against PyTorch with the same weights, by finite differences, from threads; what it refuses."""

import copy
import os
import pickle
import resource
import select
import signal
import threading
import unittest

import numpy as np
import torch
from vits import random_vit
from world import Case, pictures

import dfrost


class Backbones(Case):
    @classmethod
    def setUpClass(cls):
        cls.mini = dfrost.Backbone("frost-mini", precision="fp32")

    def test_features_and_gradient_are_those_of_pytorch(self):
        vit = random_vit(self.folder / "vit.safetensors")
        model = dfrost.Backbone(self.folder / "vit.safetensors", precision="fp32", heads=2)
        random = np.random.default_rng(1)
        images = random.standard_normal((3, 3, 32, 32), dtype=np.float32)
        for shape in ((2, 64), (3, 2, 64)):
            prompts = random.standard_normal(shape, dtype=np.float32)
            features, back = model.features(images, prompts, gradient=True)
            theirs = torch.from_numpy(prompts).requires_grad_()
            tokens = vit._process_input(torch.from_numpy(images))
            tokens = torch.cat([vit.class_token.expand(3, -1, -1), tokens], 1) + vit.encoder.pos_embedding
            tokens = torch.cat([tokens[:, :1], theirs.expand(3, -1, -1), tokens[:, 1:]], 1)
            expected = vit.encoder.ln(vit.encoder.layers(tokens))[:, 0]
            self.assertClose(features, expected.detach(), 2e-5)
            d = random.standard_normal(features.shape, dtype=np.float32)
            expected.backward(torch.from_numpy(d))
            self.assertClose(back(d), theirs.grad, 5e-5)
            self.assertEqual(back(d).tobytes(), back(d).tobytes())  # may be called again
        self.assertClose(model.classify(features), vit.heads(torch.from_numpy(features)).detach(), 1e-5)

    def test_the_gradient_is_that_of_finite_differences(self):
        g = self.mini.geometry
        random = np.random.default_rng(2)
        images = self.mini.preprocess(pictures(3, 1)[0])
        prompts = random.standard_normal((2, g.width), dtype=np.float32) * np.float32(0.3)
        features, back = self.mini.features(images, prompts, gradient=True)
        d = random.standard_normal(features.shape, dtype=np.float32)
        gradient = back(d).astype(float)
        direction = random.standard_normal(prompts.shape, dtype=np.float32)
        step = np.float32(3e-3)
        there, before = (self.mini.features(images, prompts + s * step * direction).astype(float) for s in (np.float32(1), np.float32(-1)))
        slope = ((there - before) * d).sum() / (2 * float(step))
        self.assertAlmostEqual(slope / (gradient * direction).sum(), 1, 2)

    def test_embedded_pictures_and_strided_batches_give_the_same_bytes(self):
        images = self.mini.preprocess(pictures(6, 1)[0])
        expected = self.mini.features(images)
        self.assertEqual(self.mini.features(self.mini.embed(images)).tobytes(), expected.tobytes())
        self.assertEqual(self.mini.features(images[::2]).tobytes(), expected[::2].tobytes())
        self.assertEqual(self.mini.features(torch.from_numpy(images)).tobytes(), expected.tobytes())

    def test_threads_share_a_model(self):
        images = self.mini.preprocess(pictures(4, 3)[0])
        prompts = np.ones((2, self.mini.geometry.width), np.float32)
        features, back = self.mini.features(images, prompts, gradient=True)
        expected = back(np.ones_like(features)).tobytes()
        found = []

        def work():
            for _ in range(5):
                own, own_back = self.mini.features(images, prompts, gradient=True)
                found.append(own_back(np.ones_like(own)).tobytes())
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 20)

    def test_what_does_not_fit_is_refused_with_the_fix(self):
        images = self.mini.preprocess(pictures(1, 1)[0])
        with self.assertRaises(FileNotFoundError):
            dfrost.Backbone("no-such-model")
        for call, fix in ((lambda: self.mini.features(pictures(1, 1)[0]), "preprocess"), (lambda: self.mini.features(images[:, :2]), "preprocess"),
                          (lambda: self.mini.features(images[0]), "images[None]"), (lambda: self.mini.features(images.astype(float)), "astype"),
                          (lambda: self.mini.features(None), "preprocess"), (lambda: self.mini.features(list(images)), "preprocess"),
                          (lambda: self.mini.features(images.transpose(0, 1, 3, 2)), "ascontiguousarray"),
                          (lambda: self.mini.preprocess(pictures(1, 1)[0] / 255), "255 *"), (lambda: self.mini.preprocess("cat.png"), "read_image"),
                          (lambda: self.mini.features(images, np.ones((2, 3), np.float32)), "one set"),
                          (lambda: self.mini.features(images, gradient=True), "prompts"),
                          (lambda: self.mini.preprocess(pictures(1, 1)[0][..., 0]), "np.repeat")):
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertIn(fix, caught.exception.hint)
        for words in ({"threads": -1}, {"threads": 1.5}, {"precision": 8}, {"training": "no"}, {"heads": "two"}):
            with self.assertRaisesRegex(ValueError, next(iter(words))):
                dfrost.Backbone("frost-mini", **words)
        with self.assertRaisesRegex(ValueError, "name is 3"):
            dfrost.Backbone(3)
        with self.assertRaisesRegex(ValueError, r"\[1, 2\].*\[1, 192\]"):
            self.mini.features(images, np.ones((2, 192), np.float32), gradient=True)[1](np.ones((1, 2), np.float32))
        frozen = dfrost.Backbone("frost-mini", precision="fp32", training=False)
        with self.assertRaises(ValueError) as caught:
            frozen.features(images, np.ones((2, 192), np.float32), gradient=True)
        self.assertIn("training=False", caught.exception.hint)

    def test_what_is_not_finite_is_refused_by_the_name_of_its_argument(self):
        images = self.mini.preprocess(pictures(20, 1)[0])
        tokens, prompts = self.mini.embed(images), np.ones((2, 192), np.float32)
        for bad in (np.nan, np.inf, -np.inf):
            for given in (images.copy(), tokens.copy(), images.copy()[::2]):
                for index in (len(given) - 1, 1):  # the first of several is named
                    given[(index, *(0 for _ in given.shape[1:]))] = bad
                    with self.assertRaisesRegex(ValueError, rf"images\[{index}\] .* not finite"):
                        self.mini.features(given, prompts)
            for given, index in ((prompts, 1), (np.ones((20, 2, 192), np.float32), 7)):
                given = given.copy()
                given[index, ..., 5] = bad
                with self.assertRaisesRegex(ValueError, rf"prompts\[{index}\] .* not finite"):
                    self.mini.features(images, given)
        with self.assertRaisesRegex(ValueError, r"images\[0\]"):
            self.mini.embed(np.full_like(images, np.nan))
        # A gradient may be anything: whoever scales a loss up looks for infinities to know when that was too much.
        back = self.mini.features(images[:1], prompts, gradient=True)[1]
        self.assertFalse(np.isfinite(back(np.full((1, 192), np.inf, np.float32))).all())

    def test_a_large_batch_is_not_copied(self):
        """Tokens of 60 MB as a tensor: what the call needs beside them is far less."""
        random_vit(self.folder / "vit.safetensors")
        model = dfrost.Backbone(self.folder / "vit.safetensors", precision="fp32", heads=2, threads=1)
        tokens = torch.zeros(15_000, 16, model.geometry.width)
        tokens[:] = 0.5
        model.features(tokens[:100])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model.features(tokens)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 30_000)

    def test_a_forked_process_computes_with_threads_of_its_own(self):
        images = self.mini.preprocess(pictures(9, 3)[0])
        expected = self.mini.features(images).tobytes()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(writer, b"same" if self.mini.features(images).tobytes() == expected else b"other")
            finally:
                os._exit(0)
        os.close(writer)
        ready, _, _ = select.select([reader], [], [], 120)  # one that waits for threads of the other process never answers
        answer = os.read(reader, 5) if ready else b"none"
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.assertEqual(answer, b"same")

    def test_a_pickled_model_is_loaded_again(self):
        images = self.mini.preprocess(pictures(2, 3)[0])
        again = pickle.loads(pickle.dumps(self.mini))
        self.assertEqual((repr(again), again.features(images).tobytes()), (repr(self.mini), self.mini.features(images).tobytes()))
        self.assertIs(copy.deepcopy(self.mini), self.mini)

    def test_ten_thousand_gradients_leave_nothing_behind(self):
        random_vit(self.folder / "vit.safetensors")
        model = dfrost.Backbone(self.folder / "vit.safetensors", precision="fp32", heads=2, threads=1)
        patches = model.embed(model.preprocess(pictures(1, 1)[0]))
        prompts = np.ones((1, model.geometry.width), np.float32)

        def calls(count):
            for _ in range(count):
                features, back = model.features(patches, prompts, gradient=True)
                back(features)
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        before = calls(500)
        self.assertLess(calls(10_000) - before, 2048)


if __name__ == "__main__":
    unittest.main()
