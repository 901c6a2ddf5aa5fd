"""A small experiment for whole processes: frost-mini, a few clients, pictures that are plain squares of two classes.

    small_experiment.write_pictures()                                 leaves the folder "pictures"
    small_experiment.write("job", {"run.rounds": 4})                  leaves job.toml: what stands below, with these keys changed
"""
import json
from pathlib import Path

SETTINGS = {"run.threads": 1,
            "backbone.path": "frost-mini", "backbone.precision": "fp32",
            "data.domains": {"name": "squares", "path": "pictures"}, "data.train_per_domain": 0, "data.test_per_domain": 0,
            "partition.kind": "iid", "partition.clients_per_domain": 2, "partition.min_per_client": 1,
            "network.topology": "full",
            "train.epochs": 1,
            "prompts.count": 2,
            "evaluate.every": 2}


def write_pictures(folder="pictures", brighter=0):
    """Twenty, in the format of CIFAR-10's files; no two are alike."""
    Path(folder).mkdir()
    Path(folder, "train.bin").write_bytes(
        b"".join(bytes([i % 2] + 1024 * [200 - 150 * (i % 2) + i + brighter] + 2048 * [40]) for i in range(20)))


def toml(value):
    if isinstance(value, dict):
        return "[{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}]"
    return json.dumps(value)


def write(name, changes):
    settings = {"run.name": name, **SETTINGS, **changes}
    Path(name + ".toml").write_text("".join(f"{key} = {toml(value)}\n" for key, value in settings.items()))
