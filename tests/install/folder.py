"""A project that has dfrost as a folder gets it without our warnings, which another compiler may have more of."""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    with tempfile.TemporaryDirectory(prefix="dfrost-folder-") as build:
        made = subprocess.run(["cmake", "-G", "Ninja", "-S", Path(__file__).with_name("folder"), "-B", build],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode != 0:
            sys.exit(made.stdout)
        commands = json.loads(Path(build, "compile_commands.json").read_text())
    warnings = {word for entry in commands for word in shlex.split(entry["command"]) if word.startswith("-W")}
    print(f"{len(commands)} files, warnings asked for: {sorted(warnings) or 'none'}")
    return 0 if commands and not warnings else 1


if __name__ == "__main__":
    sys.exit(main())
