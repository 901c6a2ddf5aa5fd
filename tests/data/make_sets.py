"""Writes small random data sets in every layout that dfrost reads, with other people's writers (NumPy, SciPy, Pillow),
and beside each what its pictures are: make_sets.py FOLDER. For layout L: FOLDER/L/… and FOLDER/L.train.rgb,
FOLDER/L.train.labels (a byte each), FOLDER/L.test.…"""

import csv
import gzip
import json
import struct
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat

out = Path(sys.argv[1])
random = np.random.default_rng(7)


def pictures(count, side, channels):
    images = random.integers(0, 256, (count, side, side, channels), dtype=np.uint8)
    labels = np.concatenate([np.arange(10), random.integers(0, 10, count - 10)]).astype(np.uint8)
    return images, labels


def expect(layout, split, images, labels):
    rgb = np.repeat(images, 3, axis=3) if images.shape[3] == 1 else images
    (out / f"{layout}.{split}.rgb").write_bytes(rgb.tobytes())
    (out / f"{layout}.{split}.labels").write_bytes(labels.tobytes())


def folder(layout):
    path = out / layout
    path.mkdir(parents=True)
    return path


def write_idx(layout, zipped):
    path = folder(layout)
    write = (lambda name, data: (path / (name + ".gz")).write_bytes(gzip.compress(data))) if zipped else (
        lambda name, data: (path / name).write_bytes(data))
    for split, prefix, count in (("train", "train", 23), ("test", "t10k", 12)):
        images, labels = pictures(count, 28, 1)
        write(f"{prefix}-images-idx3-ubyte", struct.pack(">IIII", 0x803, count, 28, 28) + images.tobytes())
        write(f"{prefix}-labels-idx1-ubyte", struct.pack(">II", 0x801, count) + labels.tobytes())
        expect(layout, split, images, labels)


def records(images, labels):
    return b"".join(bytes([label]) + image.transpose(2, 0, 1).tobytes() for image, label in zip(images, labels))


def write_cifar():
    path = folder("cifar") / "cifar-10-batches-bin"
    path.mkdir()
    images, labels = pictures(25, 32, 3)
    for batch in range(5):
        part = slice(5 * batch, 5 * batch + 5)
        (path / f"data_batch_{batch + 1}.bin").write_bytes(records(images[part], labels[part]))
    expect("cifar", "train", images, labels)
    images, labels = pictures(12, 32, 3)
    (path / "test_batch.bin").write_bytes(records(images, labels))
    expect("cifar", "test", images, labels)


def write_cifar_png():
    path = folder("cifar-png")
    train, train_labels = pictures(25, 32, 3)
    test, test_labels = pictures(12, 32, 3)
    for batch in range(5):
        Image.fromarray(train[5 * batch:5 * batch + 5].reshape(5, 1024, 3)).save(path / f"data_batch_{batch + 1}.png")
    Image.fromarray(test.reshape(12, 1024, 3)).save(path / "test_batch.png")
    (path / "train_lables.json").write_text(json.dumps(train_labels.tolist()))
    (path / "test_lables.json").write_text(json.dumps(test_labels.tolist()))
    expect("cifar-png", "train", train, train_labels)
    expect("cifar-png", "test", test, test_labels)


def write_records():
    path = folder("records")
    for split, count in (("train", 23), ("test", 12)):
        images, labels = pictures(count, 32, 3)
        data = records(images, labels)
        if split == "train":
            (path / "train.bin.gz").write_bytes(gzip.compress(data))
        else:
            (path / "test.bin").write_bytes(data)
        expect("records", split, images, labels)


def write_svhn(layout, compressed, label_type):
    path = folder(layout)
    for split, count in (("train", 23), ("test", 12)):
        images, labels = pictures(count, 32, 3)
        y = np.where(labels == 0, 10, labels).astype(label_type).reshape(-1, 1)
        savemat(path / f"{split}_32x32.mat", {"X": images.transpose(1, 2, 3, 0), "y": y, "note": "other variables"},
                do_compression=compressed)
        expect(layout, split, images, labels)


def write_mnist_m():
    path = folder("mnist-m")
    for split, count in (("train", 23), ("test", 12)):
        images, labels = pictures(count, 32, 3)
        (path / f"mnist_m_{split}").mkdir()
        lines = []
        for i, (image, label) in enumerate(zip(images, labels)):
            Image.fromarray(image).save(path / f"mnist_m_{split}" / f"{i:08}.png")
            lines.append(f"{i:08}.png {label}\n")
        (path / f"mnist_m_{split}_labels.txt").write_text("".join(lines))
        expect("mnist-m", split, images, labels)


def write_folder():
    """Classes in folders; inside a split a reader sees them class by class, so the expectation is sorted too."""
    path = folder("folder")
    for split, name, count in (("train", "train", 23), ("val", "valid", 11), ("test", "test", 12)):
        images, labels = pictures(count, 20, 1)
        order = np.argsort(labels, kind="stable")
        for i in order:
            target = path / name / f"class {labels[i]}"
            target.mkdir(parents=True, exist_ok=True)
            Image.fromarray(images[i, :, :, 0]).save(target / f"{i:04}.{'png' if i % 2 else 'PNG'}")
        expect("folder", split, images[order], labels[order])


def write_named_folders(layout, names, classes, side, suffix):
    """CINIC-10 (colour PNG) and MMAFEDB (grey JPEG, as Pillow decodes it again), in the folders of their archives."""
    path = folder(layout)
    for split, count in (("train", 23), ("val", 12), ("test", 11)):
        images, labels = pictures(count, side, 3 if suffix == "png" else 1)
        labels = labels % classes
        order = np.argsort(labels, kind="stable")
        for i in order:
            target = path / {"val": "valid"}.get(split, split) / names[labels[i]]
            target.mkdir(parents=True, exist_ok=True)
            file = target / f"{i:04}.{suffix}"
            Image.fromarray(images[i].squeeze()).save(file)
            images[i] = np.asarray(Image.open(file)).reshape(images[i].shape)
        expect(layout, split, images[order], labels[order])


def write_csv():
    path = folder("csv")
    rows = []
    for split, count in (("train", 23), ("test", 12)):
        images, labels = pictures(count, 20, 3)
        for i, (image, label) in enumerate(zip(images, labels)):
            name = f"{split}, {i}.png"  # a comma, so that the writer must quote
            Image.fromarray(image).save(path / name)
            rows.append((name, f'the "{label}"', split))
        expect("csv", split, images, labels)
    with open(path / "list.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("path", "label", "split"))
        writer.writerows(rows)


def write_notmnist():
    """Letters in folders, with the kinds of broken files that the real archive has."""
    path = folder("notmnist")
    for split, name, count in (("train", "notMNIST_large", 23), ("test", "notMNIST_small", 12)):
        images, labels = pictures(count, 28, 1)
        order = np.argsort(labels, kind="stable")
        for i in order:
            target = path / name / "ABCDEFGHIJ"[labels[i]]
            target.mkdir(parents=True, exist_ok=True)
            Image.fromarray(images[i, :, :, 0]).save(target / f"{i:04}.png")
        expect("notmnist", split, images[order], labels[order])
    (path / "notMNIST_large/A/RnJlaWdodERpc3BCb29rSXRhbGljLnR0Zg==.png").write_bytes(b"")
    broken = (path / "notMNIST_large/A").glob("*.png")
    whole = next(file for file in sorted(broken) if file.stat().st_size > 0).read_bytes()
    (path / "notMNIST_large/F/truncated.png").write_bytes(whole[:len(whole) // 2])
    (path / "notMNIST_large/B/Thumbs.db").write_bytes(b"not a picture")


write_idx("idx", zipped=False)
write_idx("idx-gz", zipped=True)
write_cifar()
write_cifar_png()
write_records()
write_svhn("svhn-mat", compressed=True, label_type=np.uint8)
write_svhn("svhn-mat-plain", compressed=False, label_type=np.float64)
write_mnist_m()
write_folder()
write_csv()
write_notmnist()
write_named_folders("cinic10", "airplane automobile bird cat deer dog frog horse ship truck".split(), 10, 32, "png")
write_named_folders("mmafedb", "angry disgust fear happy neutral sad surprise".split(), 7, 48, "jpg")
