"""Installs a build into a temporary folder and uses it from there, as a stranger would.

    run.py BUILD
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def main():
    build = sys.argv[1]
    consumer = Path(__file__).with_name("consumer")
    with tempfile.TemporaryDirectory(prefix="dfrost-install-") as folder:
        prefix, use = Path(folder, "prefix"), Path(folder, "use")
        run("cmake", "--install", build, "--prefix", prefix)
        print(run(prefix / "bin" / "dfrost", "--version"))
        moved = prefix.rename(Path(folder, "moved"))
        print(run(moved / "bin" / "dfrost", "backbone", "inspect", "frost-mini"))
        picture = Path(folder, "picture.png")
        Image.new("RGB", (80, 60), "orange").save(picture)
        print(run(moved / "bin" / "dfrost", "classify", "--backbone", "frost-mini", picture))
        moved.rename(prefix)
        run("cmake", "-G", "Ninja", "-S", consumer, "-B", use, f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", use)
        print(run(use / "consumer"))


if __name__ == "__main__":
    main()
