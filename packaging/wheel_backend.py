"""What `python3 -m build` calls (PEP 517): CMake builds the module, this packs it. Needs CMake and Python's own library, no network.

    python3 -m build                                             a source archive, and the wheel from that
    python3 -m build --wheel -C build-folder=build/release       the wheel of a build that is there

The wheel has the module with the backbone that comes with it, for this version of Python on a machine that has the same shared libraries, as its
tag says (linux, not manylinux). The same build gives the same bytes.
"""

import base64
import csv
import hashlib
import io
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
NOT_SOURCE = {".git", "build", "runs", "dist", "node_modules", "__pycache__", ".cache"}


def version():
    return re.search(r"project\(dfrost VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def metadata():
    about = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {version()}", f"Summary: {about['description']}",
             f"License: {about['license']['text']}", f"Requires-Python: {about['requires-python']}"]
    lines += [f"Requires-Dist: {needed}" for needed in about["dependencies"]]
    for extra, needs in about["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {needed}; extra == "{extra}"' for needed in needs)]
    return "\n".join(lines) + "\n"


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_module(folder):
    """The page of the report is the command's, and would want the network. Of MPI the module has nothing; and on a machine without any interface, as in a
    sandbox, CMake does not find it."""
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
                    "-DCMAKE_UNITY_BUILD_BATCH_SIZE=40", "-DDFROST_TESTS=OFF", "-DDFROST_REPORT_PAGE=OFF", "-DDFROST_MPI=OFF",
                    f"-DDFROST_PYTHON={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "dfrost_python"], check=True)


def installed_package(build, prefix):
    """The folder of the package as it will be in site-packages."""
    subprocess.run(["cmake", "--install", build, "--component", "python", "--strip", "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    package = next(prefix.rglob("dfrost/__init__.py"), None)
    if package is None:
        sys.exit(f"{build} has no Python module: it was configured without pybind11-dev or python3-dev (scripts/setup build)")
    package = package.parent
    wanted = "_native" + sysconfig.get_config_var("EXT_SUFFIX")
    if not (package / wanted).exists():
        found = ", ".join(path.name for path in package.glob("_native*.so"))
        sys.exit(f"{build} has {found}, and this Python needs {wanted}: run the build with that Python, or without build-folder")
    shutil.copytree(SOURCE / "share/dfrost", package / "share")
    return package


def write_wheel(path, contents):
    """Files by name, and RECORD, which has the hash of each. All are of one time: it says nothing."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, data):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr, info.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
        for name, data in contents.items():
            add(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(data)])
        name = f"dfrost-{version()}.dist-info/RECORD"
        rows.writerow([name, "", ""])
        add(name, record.getvalue())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get("build-folder")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    build = Path(given).resolve() if given else SOURCE / "build" / f"wheel-{python}"
    if not given:
        build_module(build)
    elif not (build / "CMakeCache.txt").exists():
        sys.exit(f"there is no build in {build}: build-folder is that of one that is done, such as build/release")
    with tempfile.TemporaryDirectory() as folder:
        package = installed_package(build, Path(folder))
        contents = {path.relative_to(package.parent).as_posix(): path.read_bytes() for path in sorted(package.rglob("*")) if path.is_file()}
    about = f"dfrost-{version()}.dist-info"
    contents |= {f"{about}/METADATA": metadata().encode(), f"{about}/LICENSE": (SOURCE / "LICENSE").read_bytes(),
                 f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: dfrost {version()}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()}
    name = f"dfrost-{version()}-{tag}.whl"
    write_wheel(Path(wheel_directory, name), contents)
    return name


def source_files():
    """What git has, and without git everything that no build has made."""
    if (SOURCE / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True, text=True).stdout
        return [Path(name) for name in listed.split("\0") if name and (SOURCE / name).is_file()]
    found = (path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*")) if path.is_file())
    return [path for path in found if not NOT_SOURCE & set(path.parts) and path.name != "PKG-INFO"]


def build_sdist(sdist_directory, config_settings=None):
    name = f"dfrost-{version()}"
    with tarfile.open(Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        def add(path, data, mode):
            info = tarfile.TarInfo(f"{name}/{path}")
            info.size, info.mode = len(data), mode
            archive.addfile(info, io.BytesIO(data))
        add("PKG-INFO", metadata().encode(), 0o644)
        for path in source_files():
            file = SOURCE / path
            add(path.as_posix(), file.read_bytes(), 0o755 if file.stat().st_mode & 0o100 else 0o644)
    return f"{name}.tar.gz"
