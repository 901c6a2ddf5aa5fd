"""The commands of docs/how-to/install.md: the module in the build folder, and installed below a prefix, which is then moved."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, BUILD = Path(__file__).resolve().parents[2], Path(sys.argv[1])


def run(command, home):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=home, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stdout}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    home = Path(folder)
    (home / "build").mkdir()
    (home / "build/release").symlink_to(BUILD)
    blocks = re.findall(r"```sh\n(.*?)```", (SOURCE / "docs/how-to/install.md").read_text(), re.S)
    for block in blocks:
        printed = run(block, home)
        assert "Backbone('frost-mini'" in printed, printed
    shutil.move(home / "dfrost", home / "moved")
    printed = run("PYTHONPATH=moved/lib/python3/dist-packages python3 -c 'import dfrost; print(dfrost.Backbone(\"frost-mini\"))'", home)
    assert "Backbone('frost-mini'" in printed, printed
    assert len(blocks) == 2 and not list((home / "moved").rglob("__pycache__"))
