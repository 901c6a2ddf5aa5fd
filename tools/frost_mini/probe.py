"""How much can be read from a checkpoint's class token? A linear probe and k nearest neighbours on five data sets.

    probe.py --data FOLDER [--data FOLDER...] CHECKPOINT...

The folders hold mnist, fashion-mnist, svhn and notmnist as idx or CIFAR records, and cifar10 as `dfrost data get cifar10` leaves it. Pictures
are prepared as `dfrost` prepares them: to 64 x 64 for frost-mini, to 256 and the centre 224 for DeiT, both bicubic. A
data set without a training half (notmnist) is split at random, 4 to 1. Same seed, same pictures for every checkpoint.
"""
import argparse
import gzip
import json
import os

import numpy
import torch
from PIL import Image
from torch.nn import functional

from vit import MEAN, STD, VisionTransformer, read_safetensors

SETS = ("mnist", "fashion-mnist", "cifar10", "svhn", "notmnist")


def read_bytes(folder, name):
    for path, opener in ((os.path.join(folder, name), open), (os.path.join(folder, name + ".gz"), gzip.open)):
        if os.path.exists(path):
            with opener(path, "rb") as file:
                return file.read()
    return None


def read_idx(folder, split):
    images, labels = read_bytes(folder, f"{split}-images-idx3-ubyte"), read_bytes(folder, f"{split}-labels-idx1-ubyte")
    if images is None or labels is None:
        return None
    grey = numpy.frombuffer(images, "u1", offset=16).reshape(-1, 28, 28)
    return numpy.repeat(grey[..., None], 3, 3), numpy.frombuffer(labels, "u1", offset=8)


def read_records(folder, split):
    records = read_bytes(folder, f"{split}.bin")
    if records is None:
        return None
    rows = numpy.frombuffer(records, "u1").reshape(-1, 3073)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]


def read_png_batches(folder, split):
    """A picture of the batch is a row of 1024 pixels."""
    numbers = range(1, 6) if split == "train" else ["test"]
    names = [f"data_batch_{n}.png" if split == "train" else "test_batch.png" for n in numbers]
    if not all(os.path.exists(os.path.join(folder, name)) for name in names):
        return None
    rows = [numpy.asarray(Image.open(os.path.join(folder, name)).convert("RGB")).reshape(-1, 32, 32, 3) for name in names]
    with open(os.path.join(folder, f"{split}_lables.json")) as file:
        return numpy.concatenate(rows), numpy.array(json.load(file))


def load(folder, generator):
    """((pictures, labels) of training, of test), pictures as bytes (n, h, w, 3)."""
    train = read_idx(folder, "train") or read_records(folder, "train") or read_png_batches(folder, "train")
    test = read_idx(folder, "t10k") or read_records(folder, "test") or read_png_batches(folder, "test")
    if train is None and test is not None:
        order = generator.permutation(len(test[0]))
        cut = len(order) * 4 // 5
        return tuple((test[0][rows], test[1][rows]) for rows in (order[:cut], order[cut:]))
    if test is None:
        raise SystemExit(f"{folder}: no data set that is understood here")
    return train, test


def sample(pictures, labels, count, generator):
    rows = generator.permutation(len(pictures))[:count]
    return pictures[rows], torch.from_numpy(labels[rows].astype("int64"))


def prepared(picture, size):
    image = Image.fromarray(picture)
    if size == 224:
        return image.resize((256, 256), Image.BICUBIC).crop((16, 16, 240, 240))
    return image.resize((size, size), Image.BICUBIC)


def features(model, size, pictures, batch=50):
    rows = []
    for start in range(0, len(pictures), batch):
        x = numpy.stack([numpy.asarray(prepared(p, size)) for p in pictures[start:start + batch]])
        x = (torch.from_numpy(x).permute(0, 3, 1, 2).float() / 255 - MEAN) / STD
        with torch.no_grad():
            rows.append(model(x)[0][:, 0])
    return torch.cat(rows)


def fitted(x, y, decay):
    """Multinomial regression, weights decayed, to convergence."""
    layer = torch.nn.Linear(x.shape[1], 10)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = functional.cross_entropy(layer(x), y) + decay * layer.weight.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return layer


def accuracy(layer, x, y):
    with torch.no_grad():
        return float((layer(x).argmax(1) == y).float().mean())


def linear_probe(x, y, test_x, test_y):
    """The decay is chosen on the last fifth of the training pictures."""
    mean, deviation = x.mean(0), x.std(0)
    x, test_x = (x - mean) / deviation, (test_x - mean) / deviation
    cut = len(x) * 4 // 5
    decay = max((3e-4, 3e-3, 3e-2), key=lambda d: accuracy(fitted(x[:cut], y[:cut], d), x[cut:], y[cut:]))
    return accuracy(fitted(x, y, decay), test_x, test_y)


def nearest_neighbours(x, y, test_x, test_y, k=10):
    x, test_x = functional.normalize(x - x.mean(0)), functional.normalize(test_x - x.mean(0))
    near = y[(test_x @ x.T).topk(k).indices]
    return float((near.mode(1).values == test_y).float().mean())


def model_from(path):
    tensors = read_safetensors(path)
    patch, tokens = tensors["patch_embed.proj.weight"].shape[-1], tensors["pos_embed"].shape[1]
    size = patch * round((tokens - 1) ** 0.5)
    depth = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("blocks."))
    model = VisionTransformer(size, patch, depth=depth)
    model.load_state_dict(tensors)
    return model.eval(), size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", action="append", required=True, help="a folder that holds data sets by name; may be given again")
    parser.add_argument("--train", type=int, default=2000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("checkpoints", nargs="+")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for path in options.checkpoints:
        model, size = model_from(path)
        linear, near = [], []
        for name in SETS:
            generator = numpy.random.default_rng(1)
            folder = next(f for f in (os.path.join(root, name) for root in options.data) if os.path.isdir(f))
            train, test = load(folder, generator)
            (x, y), (test_x, test_y) = sample(*train, options.train, generator), sample(*test, options.test, generator)
            x, test_x = features(model, size, x), features(model, size, test_x)
            linear.append(linear_probe(x, y, test_x, test_y))
            near.append(nearest_neighbours(x, y, test_x, test_y))
            print(f"{path}  {name:14} linear {100 * linear[-1]:5.1f} %  k-NN {100 * near[-1]:5.1f} %", flush=True)
        print(f"{path}  {'mean':14} linear {100 * numpy.mean(linear):5.1f} %  k-NN {100 * numpy.mean(near):5.1f} %", flush=True)


if __name__ == "__main__":
    main()
