"""The scripts that made frost-mini, end to end, with made-up pictures and a teacher of random weights: the commands of its card.

    frost_mini_test.py DFROST    exit code 77 without PyTorch
"""

import io
import json
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
CARD = SOURCE / "tools/frost_mini/README.md"
sys.path[:0] = [str(CARD.parent), *(str(SOURCE / "tests" / folder) for folder in ("support", "docs", "backbone"))]
try:
    import torch
except ImportError:
    print("SKIPPED: needs PyTorch, absent here")
    sys.exit(77)
import numpy  # noqa: E402
from PIL import Image  # noqa: E402
import small_world  # noqa: E402
from checkpoint_oracle import save  # noqa: E402
from page import Block, pieces  # noqa: E402
from vit import VisionTransformer, read_safetensors  # noqa: E402

dfrost = sys.argv.pop()
SETS = ("mnist", "fashion-mnist", "cifar10", "svhn", "notmnist")


def header(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))


def tensors(path):
    return {name: (entry["dtype"], entry["shape"]) for name, entry in header(path).items() if name != "__metadata__"}


def write_pictures(path, count):
    with tarfile.open(path, "w:gz") as archive:
        for number, pixels in enumerate(small_world.pictures(count, 64, seed=4)[0]):
            jpeg = io.BytesIO()
            Image.fromarray(pixels).save(jpeg, "JPEG")
            entry = tarfile.TarInfo(f"n0/{number}.JPEG")
            entry.size = len(jpeg.getvalue())
            archive.addfile(entry, io.BytesIO(jpeg.getvalue()))


def write_svhn(folder):
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        pixels, labels = small_world.pictures(small_world.TEST, 32, seed=5)
        records = numpy.concatenate([labels[:, None], pixels.transpose(0, 3, 1, 2).reshape(len(labels), -1)], 1)
        (folder / f"{split}.bin").write_bytes(records.tobytes())


def write_idx(folder, beginning=""):
    folder.mkdir(parents=True)
    for name, content in small_world.idx_files().items():
        if name.startswith(beginning):
            (folder / name).write_bytes(content)


class FrostMini(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="dfrost-frost-mini-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.environment = dict(small_world.environment(folder.name, dfrost), PYTHONDONTWRITEBYTECODE="1")
        (cls.folder / "bin/python3").symlink_to(sys.executable)  # the one that has PyTorch
        torch.manual_seed(1)
        cls.teacher = cls.lay_out(cls.folder, depth=12)
        write_pictures(cls.folder / "train-250-per-class.tar.gz", 40)
        blocks = [p for p in pieces(CARD.read_text()) if isinstance(p, Block) and p.language == "console"]
        cls.train, cls.moments, cls.probe = ["\n".join(command for command, _ in block.commands()) for block in blocks]
        # Less of everything; what is given last counts. It goes by the clock: a machine that is too busy for two steps gets more time.
        for minutes in (0.04, 0.4, 2):
            cls.trained = cls.run_command(cls.train + f" --minutes {minutes} --batch 2")
            cls.seen = int(header(cls.folder / "model.safetensors")["__metadata__"]["pictures_seen"])
            if cls.seen >= 4:
                break

    @staticmethod
    def lay_out(folder, depth):
        """What the commands of the card find where they are typed; returns the path of the teacher."""
        folder.mkdir(exist_ok=True)
        for name in ("tools", "share"):
            (folder / name).symlink_to(SOURCE / name)
        save(folder / "deit_tiny_patch16_224.safetensors", VisionTransformer(224, 16, depth=depth).state_dict())
        return folder / "deit_tiny_patch16_224.safetensors"

    @classmethod
    def run_command(cls, command, folder=None):
        done = subprocess.run(["bash", "-euc", command], cwd=folder or cls.folder, env=cls.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def test_leaves_a_file_like_the_one_that_is_shipped(self):
        shipped = SOURCE / "share/dfrost/backbones/frost-mini/model.safetensors"
        self.assertEqual(tensors(self.folder / "model.safetensors"), tensors(shipped))
        self.assertLessEqual(shipped.stat().st_size, 6_000_000)
        self.assertIn(f"model.safetensors: {self.seen} pictures seen", self.trained)

    def test_starts_as_half_of_the_teacher_and_moves_from_there(self):
        from train import KEPT_BLOCKS  # noqa: PLC0415
        teacher = read_safetensors(self.teacher)
        student = read_safetensors(self.folder / "model.safetensors")
        for mine, its in enumerate(KEPT_BLOCKS):
            start, end = teacher[f"blocks.{its}.mlp.fc1.weight"], student[f"blocks.{mine}.mlp.fc1.weight"]
            # A few steps of at most 5e-4 each, and the rounding to bf16.
            self.assertLess(float((end - start).norm() / start.norm()), 0.2)
            self.assertGreater(float((end - start.bfloat16().float()).norm()), 0)

    def test_is_read_by_dfrost_which_gives_what_pytorch_gives(self):
        found = json.loads(self.run_command("dfrost backbone inspect model.safetensors --json 2>/dev/null"))
        self.assertIn("timm", json.dumps(found))
        model = VisionTransformer()
        model.load_state_dict(read_safetensors(self.folder / "model.safetensors"))
        images = torch.randn(2, 3, 64, 64)
        with torch.no_grad():
            features = model(images)[0][:, 0]
        save(self.folder / "images.safetensors", {"images": images})
        self.run_command("dfrost backbone probe model.safetensors --input images.safetensors --precision fp32 --out out.safetensors")
        ours = read_safetensors(self.folder / "out.safetensors")["features"].view_as(features)
        self.assertLess(float((ours - features).norm() / features.norm()), 1e-4)

    def test_comes_with_moments_of_twenty_pictures_a_class(self):
        self.run_command(self.moments)
        for size in (32, 64):
            shipped = SOURCE / f"share/dfrost/backbones/frost-mini/moments-{size}.safetensors"
            made = self.folder / shipped.name
            self.assertEqual(tensors(made), tensors(shipped))
            about, ours = header(made)["__metadata__"], header(shipped)["__metadata__"]
            self.assertEqual((about["pictures"], ours["pictures"]), ("20", "4000"))
            self.assertEqual({**about, "pictures": "4000"}, ours)

    def test_is_probed_on_five_data_sets_beside_its_teacher(self):
        self.run_command("dfrost data get mnist cifar10")
        data = Path(self.environment["HOME"], ".local/share/dfrost/data")
        write_idx(data / "fashion-mnist")
        write_svhn(data / "svhn")
        write_idx(data / "notmnist", "t10k")  # as it comes: without a training half
        self.lay_out(self.folder / "shallow", depth=2)  # it may have any depth, and this is sooner done
        lines = self.run_command(self.probe + " --train 10 --test 2", self.folder / "shallow").splitlines()
        for path in ("share/dfrost/backbones/frost-mini/model.safetensors", "deit_tiny_patch16_224.safetensors"):
            for name in (*SETS, "mean"):
                self.assertEqual(sum(line.startswith(f"{path}  {name} ") for line in lines), 1, (path, name, lines))


if __name__ == "__main__":
    unittest.main()
