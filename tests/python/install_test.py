"""The commands of docs/how-to/install.md but those of Debian packages (tests/install/packages.py has them): the module in the build folder, installed below
a prefix, which is then moved, and as a wheel."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, BUILD = Path(__file__).resolve().parents[2], Path(sys.argv[1])
PAGE = "docs/how-to/install.md"
IMPORT = "python3 -c 'import dfrost; print(dfrost.__file__, dfrost.Backbone(\"frost-mini\"))'"


def run(command, home):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=home, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stdout}")
    return done.stdout


def expect(printed, *words):
    missing = [word for word in words if word not in printed]
    assert not missing, f"not there: {missing}\n{printed}"


with tempfile.TemporaryDirectory() as folder:
    home = Path(folder)
    for path in SOURCE.iterdir():  # as if it were the source, with nothing written into that
        if path.name not in ("build", ".git"):
            (home / path.name).symlink_to(path)
    (home / "build").mkdir()
    (home / "build/release").symlink_to(BUILD)
    blocks = re.findall(r"```sh\n(.*?)```", (SOURCE / PAGE).read_text(), re.S)
    prefix, in_build, installed, wheel = (run(block, home) for block in blocks if "cpack" not in block)
    expect(prefix, "dfrost 0.")
    for printed in (in_build, installed, wheel):
        expect(printed, "Backbone('frost-mini'")

    shutil.move(home / "dfrost", home / "moved")
    expect(run(f"PYTHONPATH=moved/lib/python3/dist-packages {IMPORT}", home), "Backbone('frost-mini'")
    assert not list((home / "moved").rglob("__pycache__"))
    # The wheel is whole: it is used from its own folder, has the backbone in it, and its record names what is there.
    expect(run(f"environment/bin/{IMPORT}", home), str(home / "environment/lib"), "Backbone('frost-mini'")
    expect(run("environment/bin/pip show --files dfrost", home), "model.safetensors", "py.typed", "Requires: numpy")
    again = run("python3 -m build --wheel --no-isolation -C build-folder=build/release --outdir again >/dev/null; cmp wheel/*.whl again/*.whl && echo same", home)
    expect(again, "same")
