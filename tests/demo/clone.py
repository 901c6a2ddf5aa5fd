"""Makes a small clone of the project, in which the real ./demo does the real thing with the executable that is already built.

    clone.py FOLDER [--small]    dfrost is the one on the path; --small: ./demo takes settings that need seconds, before those it is given

The package lists, the presets and the script are those of the project. Only what is built is not: the target `dfrost` is a link.
"""

import argparse
import shutil
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SMALL = ("run.rounds=1", "backbone.image_size=32", "data.train_per_domain=10", "data.test_per_domain=10", "partition.clients_per_domain=2",
         "partition.kind=iid", "network.topology=full", "train.epochs=1", "prompts.count=2", "evaluate.every=1", "evaluate.clients=1",
         "evaluate.samples=3")
SETTINGS = [word for setting in SMALL for word in ("--set", setting)]
BUILD = """cmake_minimum_required(VERSION 3.25)
project(clone NONE)
message(STATUS "tests: ${{DFROST_TESTS}}")
add_custom_target(dfrost COMMAND ${{CMAKE_COMMAND}} -E create_symlink {dfrost} dfrost)
"""


def make(folder, dfrost):
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    for name in ("demo", "CMakePresets.json"):
        shutil.copy(SOURCE / name, folder / name)
    shutil.copytree(SOURCE / "scripts", folder / "scripts")
    (folder / "CMakeLists.txt").write_text(BUILD.format(dfrost=Path(dfrost).resolve()))
    return folder


def shrink(folder):
    """Whoever types ./demo gets it with small settings, which what is typed after it may still change."""
    whole = folder / "whole"
    whole.mkdir()
    for name in ("demo", "CMakePresets.json", "CMakeLists.txt", "scripts"):
        (folder / name).rename(whole / name)
    # Where the run folders are to appear is where the demo was typed.
    (whole / "runs").symlink_to("../runs")
    (folder / "runs").mkdir()
    (folder / "demo").write_text(f'#!/bin/sh\nexec whole/demo {" ".join(SETTINGS)} "$@"\n')
    (folder / "demo").chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    make(arguments.folder, shutil.which("dfrost"))
    if arguments.small:
        shrink(arguments.folder)


if __name__ == "__main__":
    main()
