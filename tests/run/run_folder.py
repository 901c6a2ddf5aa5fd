"""What a run leaves in its folder, but for times: two runs that compute the same leave the same."""
import json
import re
import struct
from pathlib import Path


def without_seconds(record):
    return {key: value for key, value in record.items() if "second" not in key and key != "name"}


def events(data):
    """Rounds and scalars, without times: those of events, and those that are told as scalars."""
    kept, at = [], 0
    while at < len(data):
        length, = struct.unpack_from("<Q", data, at)
        event = data[at + 12:at + 12 + length]
        kept.append(re.sub(rb"(seconds/[a-z_]+\x15)....", rb"\1", event[9:], flags=re.S))
        at += 12 + length + 4
    return kept


def savepoint(data):
    """Its tensors, and all it says of itself but the times."""
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    said = header.pop("__metadata__")
    said.pop("checksum")  # of the times too
    said["totals"] = without_seconds(json.loads(said["totals"]))
    return header, said, data[8 + length:]


def left_by(root):
    """By file; of files that tell of kills, ranks and where things lie, that they are there."""
    kept = {}
    for path in sorted(Path(root).rglob("*")):
        file = str(path.relative_to(root))
        if path.is_dir() or file in ("run.log", "about.json", "config.toml"):
            kept[file] = None
        elif file.startswith("checkpoints/"):
            kept[file] = savepoint(path.read_bytes())
        elif file == "metrics.jsonl":
            kept[file] = [without_seconds(json.loads(line)) for line in path.read_text().splitlines()]
        elif file == "summary.json":
            kept[file] = without_seconds(json.loads(path.read_text()))
        elif file.startswith("tensorboard/"):
            kept[file] = events(path.read_bytes())
        else:
            kept[file] = path.read_bytes()
    return kept


def differences(found, expected):
    return sorted(file for file in found.keys() | expected.keys() if found.get(file, 0) != expected.get(file, 0))
