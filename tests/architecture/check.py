"""Checks of the tree itself, one per ctest entry:  check.py CHECK  (run it without one for the list)."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {".git", "build", "runs", "node_modules", "dist", "__pycache__", ".cache"}
LINE_LIMIT = 600


def files(*folders, suffixes=None):
    """Every file of the tree (or of some of its folders), build products left out."""
    found = []
    for folder in folders or (".",):
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.is_file() and not NOT_OURS & set(relative.parts):
                if suffixes is None or path.suffix in suffixes:
                    found.append(relative)
    return found


def read(path):
    """The text of a file, or nothing if it is not text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def the_map():
    """folder -> the folders it may include, from the table in src/README.md, in its order."""
    rows = {}
    for line in read("src/README.md").splitlines():
        if match := re.fullmatch(r"\| `(\w+)` \|.*\|([^|]*)\|", line):
            rows[match[1]] = [name.strip() for name in match[2].split(",") if name.strip()]
    return rows


def source_folders():
    return sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir())


def folders_include_only_what_the_map_allows():
    allowed = the_map()
    for path in files("src", suffixes={".h", ".cc"}):
        folder = path.parts[1]
        for number, line in enumerate(read(path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+["<]([\w./-]+)[">]', line)
            if not match:
                continue
            target = match[1].split("/")[0]
            if target == ".." or ("/" not in match[1] and (ROOT / path).parent.joinpath(match[1]).exists()):
                yield f"{path}:{number}: includes {match[1]}; write the path from src/: {folder}/{Path(match[1]).name}"
            elif target in allowed and target != folder and target not in allowed.get(folder, []):
                yield f"{path}:{number}: {folder} includes {match[1]}, which src/README.md does not allow"


def the_map_allows_nothing_that_nobody_uses():
    for folder, may_include in the_map().items():
        used = set()
        for path in files(f"src/{folder}", suffixes={".h", ".cc"}):
            used |= set(re.findall(r'^\s*#\s*include\s+"(\w+)/', read(path), re.MULTILINE))
        for other in may_include:
            if other not in used:
                yield f"src/README.md: {folder} may include {other}, and does not"


def public_headers_include_only_public_headers():
    for path in files("include", suffixes={".h"}):
        for number, line in enumerate(read(path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match and not match[1].startswith("dfrost/"):
                yield f"{path}:{number}: a public header includes {match[1]}, which is not installed"


def the_map_and_the_folders_agree():
    rows = the_map()
    for folder in source_folders():
        if folder not in rows:
            yield f"src/{folder} has no row in src/README.md"
    above = []
    for folder, may_include in rows.items():
        if not (ROOT / "src" / folder).is_dir():
            yield f"src/README.md has a row for {folder}, which is no folder of src/"
        for other in may_include:
            if other not in above:
                yield f"src/README.md: {folder} may include {other}, which does not stand above it"
        above.append(folder)


def headers_have_pragma_once_and_say_what_they_are():
    for path in files("include", "src", "tests", suffixes={".h"}):
        text = read(path)
        # Highway compiles an -inl.h once per instruction set, under its own guard.
        if not path.name.endswith("-inl.h") and len(re.findall(r"^#pragma once$", text, re.MULTILINE)) != 1:
            yield f"{path}: needs one #pragma once"
        if not text.startswith("// "):
            yield f"{path}: opens without a comment that says what it is"


# Whoever parses counts how deep the text nests beforehand: base/nesting.h.
PARSERS = {r"[jJ]son::(sax_)?parse\(": {"src/base/json.cc", "src/base/safetensors_header.cc"},
           r"toml::parse\(": {"src/config/toml_file.cc", "src/report/settings.cc"}}


def texts_from_outside_are_parsed_where_their_nesting_is_bounded():
    for path in files("src", suffixes={".h", ".cc"}):
        for number, line in enumerate(read(path).splitlines(), 1):
            for pattern, allowed in PARSERS.items():
                if re.search(pattern, line) and str(path) not in allowed:
                    yield f"{path}:{number}: parse it through base/json.h, or bound its nesting by base/nesting.h"


def no_file_is_a_giant():
    for path in files(suffixes={".h", ".cc", ".py", ".md", ".cmake", ".ts", ".txt", ".test"}):
        length = read(path).count("\n")
        if length > LINE_LIMIT:
            yield f"{path}: {length} lines; split it below {LINE_LIMIT}"


# Paths of one person's machine, and addresses that only some network can reach.
PRIVATE = [
    r"(?<![\w.}/])/(?:work|home|root|Users)/\w[^\s\"'`)]*",
    r"https?://(?!127\.|0\.0\.0\.0)\d+\.\d+\.\d+\.\d+[^\s\"'`)]*",
    r"https?://[\w.-]*(?:artifactory|nexus|\.internal|\.local|\.lan|\.corp|proxy)\b[^\s\"'`)]*",
    r"https?://(?!localhost)[\w-]+(?::\d+)?/[^\s\"'`)]*",
]


def nothing_names_a_private_machine():
    for path in files():
        for number, line in enumerate(read(path).splitlines(), 1):
            for pattern in PRIVATE:
                if match := re.search(pattern, line):
                    yield f"{path}:{number}: {match[0]} is a place that others do not have"


def links_in_the_documentation_lead_somewhere():
    for path in files(suffixes={".md"}):
        text = re.sub(r"^```.*?^```", "", read(path), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)|(?:src|href)=\"([^\"#]+)\"", text):
            link = target[0] or target[1]
            if "://" not in link and not link.startswith("mailto:") and not (ROOT / path.parent / link).exists():
                yield f"{path}: links to {link}, which is not there"


def every_file_is_formatted():
    tool = shutil.which("clang-format")
    if tool is None:
        yield "clang-format is not here: it is in scripts/packages-test.txt"
        return
    sources = [str(path) for path in files("include", "src", "tests", "bench", suffixes={".h", ".cc"})]
    done = subprocess.run([tool, "--dry-run", "-Werror", *sources], cwd=ROOT, text=True, capture_output=True)
    for name in sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.MULTILINE))):
        yield f"{name}: run clang-format -i on it"
    if done.returncode != 0 and "error" not in done.stderr:
        yield done.stderr


CHECKS = {check.__name__: check for check in (
    folders_include_only_what_the_map_allows,
    the_map_allows_nothing_that_nobody_uses,
    public_headers_include_only_public_headers,
    the_map_and_the_folders_agree,
    headers_have_pragma_once_and_say_what_they_are,
    texts_from_outside_are_parsed_where_their_nesting_is_bounded,
    no_file_is_a_giant,
    nothing_names_a_private_machine,
    links_in_the_documentation_lead_somewhere,
    every_file_is_formatted,
)}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        print(__doc__, *CHECKS, sep="\n  ")
        return 2
    problems = list(CHECKS[sys.argv[1]]())
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
