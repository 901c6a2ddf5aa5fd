"""The Debian packages of a build: three of them, without an error of lintian's, unpacked and used as if they were installed.

    packages.py BUILD

Installing them needs root and a machine of their own: tests/install/by_hand.sh does that in a fresh one.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = ("dfrost", "libdfrost-dev", "python3-dfrost")


def run(*command, **how):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def make_packages(build, folder):
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)
    run("bash", "-c", "cpack --config build/release/CPackConfig.cmake -B packages -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=folder)  # packed quickly
    found = {path.name.split("_")[0]: path for path in folder.glob("packages/*.deb")}
    assert sorted(found) == sorted(PACKAGES), found
    return found


def control(package, field):
    return run("dpkg-deb", "-f", package, field).strip()


def check_what_they_need(packages):
    version = re.search(r"project\(dfrost VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    for name, package in packages.items():
        assert control(package, "Version") == version, name
        assert name == "dfrost" or f"dfrost (= {version})" in control(package, "Depends"), name
    for name in ("dfrost", "python3-dfrost"):  # found by dpkg-shlibdeps
        for library in ("libc6 (>=", "libdnnl", "libjpeg62-turbo"):
            assert library in control(packages[name], "Depends"), (name, library)
    for header in ("libfmt-dev", "libdnnl-dev", "libhwy-dev", "libtomlplusplus-dev"):
        assert header in control(packages["libdfrost-dev"], "Depends"), header


def use(root, home):
    """As the packages put it: the command, its manual and completion, the unit, the module."""
    environment = {"PATH": f"{root}/usr/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    print(run("dfrost", "--version", env=environment))
    assert "frost-mini" in run("dfrost", "backbone", "inspect", "frost-mini", env=environment)
    manual = run("man", "-l", root / "usr/share/man/man1/dfrost.1.gz", env={**environment, "MANWIDTH": "200"})
    for said in ("dfrost bench step", "--onnx", "EXIT STATUS"):
        assert said in manual, said
    for place in ("bash-completion/completions/dfrost", "zsh/vendor-completions/_dfrost", "fish/vendor_completions.d/dfrost.fish"):
        assert "bench step" in (root / "usr/share" / place).read_text(), place
    unit = (root / "usr/lib/systemd/system/dfrost-peer@.service").read_text()
    program = re.search(r"ExecStart=(\S+)", unit)[1]
    assert os.access(f"{root}{program}", os.X_OK), program
    said = run("/usr/bin/python3", "-c", "import dfrost; print(dfrost.__file__, dfrost.Backbone('frost-mini'))",
               env={**environment, "PYTHONPATH": f"{root}/usr/lib/python3/dist-packages"})
    assert str(root) in said and "frost-mini" in said, said
    build = Path(home, "examples")
    run("cmake", "-G", "Ninja", "-S", SOURCE / "examples", "-B", build, f"-DCMAKE_PREFIX_PATH={root}/usr", env=environment)
    run("cmake", "--build", build, "--target", "ot", env=environment)
    assert "merged (0, 0.5)" in run(build / "ot")


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="dfrost-packages-") as folder:
        folder = Path(folder)
        packages = make_packages(build, folder)
        check_what_they_need(packages)
        said = run("lintian", "--fail-on", "error", "--allow-root", *packages.values(), env={**os.environ, "LANG": "C.UTF-8"})
        print(said)
        root = folder / "root"
        for package in packages.values():
            run("dpkg-deb", "-x", package, root)
        home = folder / "home"
        home.mkdir()
        use(root, home)


if __name__ == "__main__":
    main()
