"""A project that has dfrost as a folder and wants its optimal transport alone: gets no warnings of ours, which another compiler may have
more of, no tests, and needs neither JSON nor anything of the engine."""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/ot"
NOT_NEEDED = ("nlohmann_json", "dnnl", "OpenMP", "Eigen3", "CLI11", "CURL", "LibArchive", "OpenSSL", "PNG", "JPEG", "ZLIB", "GTest")


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def main():
    with tempfile.TemporaryDirectory(prefix="dfrost-folder-") as build:
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in NOT_NEEDED]
        fast = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=40"]
        run("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", build, *absent, *fast)
        commands = json.loads(Path(build, "compile_commands.json").read_text())
        run("cmake", "--build", build)
        print(run(Path(build, "merge_two")))
    warnings = {word for entry in commands for word in shlex.split(entry["command"]) if word.startswith("-W")}
    tests = [entry["file"] for entry in commands if "/tests/" in entry["file"]]
    print(f"{len(commands)} files, warnings asked for: {sorted(warnings) or 'none'}, tests: {tests or 'none'}")
    return 0 if commands and not warnings and not tests else 1


if __name__ == "__main__":
    sys.exit(main())
