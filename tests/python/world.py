"""What the tests share: small pictures of two classes, runs over them, the command line beside the module."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

import dfrost

DFROST = os.environ["DFROST"]


def command(*words, cwd=None):
    done = subprocess.run([DFROST, *map(str, words)], text=True, capture_output=True, cwd=cwd, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(f"dfrost {words}: {done.stderr}")
    return done.stdout


def command_json(*words, cwd=None):
    return json.loads(command(*words, "--json", cwd=cwd))


def pictures(count, seed, side=16):
    """Dark and bright noise: labels 0 and 1 in turn."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    images = random.integers(0, 128, (count, side, side, 3), dtype=np.uint8)
    images[labels == 1] += 127
    return images, labels


def data(clients=3, each=6, test=4):
    return dfrost.Data([pictures(each, seed) for seed in range(clients)], pictures(test, 99), ["dark", "bright"])


SMALL = {"run.rounds": 2, "network.topology": "full", "train.batch": 4, "backbone.precision": "fp32", "run.threads": 2,
         "prompts.count": 3, "partition.clients_per_domain": 3}


def config(**changes):
    return dfrost.Config.preset("mine", {**SMALL, **{key.replace("__", "."): value for key, value in changes.items()}})


def write_prompts(path, prompts):
    """A safetensors file with one tensor, by hand: its format is eight bytes, JSON, floats."""
    prompts = np.ascontiguousarray(prompts, dtype=np.float32)
    header = json.dumps({"prompt_embeddings": {"dtype": "F32", "shape": list(prompts.shape),
                                               "data_offsets": [0, prompts.nbytes]}}).encode()
    header += b" " * (-len(header) % 8)
    Path(path).write_bytes(len(header).to_bytes(8, "little") + header + prompts.tobytes())


def read_tensor(path, name="prompt_embeddings"):
    raw = Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    entry = json.loads(raw[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    return np.frombuffer(raw[8 + size + begin:8 + size + end], np.float32).reshape(entry["shape"])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assertClose(self, a, b, tolerance):
        difference = float(np.max(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64))))
        self.assertLessEqual(difference, tolerance)
