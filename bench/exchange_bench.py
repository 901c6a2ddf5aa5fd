"""What of a round between real sites is exchange, with frost-mini: `dfrost federation try` over pictures of noise.

    exchange_bench.py DFROST [SITES [PICTURES [ROUNDS]]]      2 sites, 20 pictures each, 10 rounds

Prints JSON, in % of all rounds' time and of all sites. `exchange` is encoding, sending, decoding and checking: what the records call so, less the time in which
a site had nothing to do but wait for letters, which its status counts. That waiting is mostly for others that still train; the least that any site
waited is what its neighbours' last letters were on their way, and as much again as they were slower.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

dfrost = os.path.abspath(sys.argv[1])
sites, pictures, rounds = (int(word) for word in (sys.argv[2:] + ["2", "20", "10"][len(sys.argv) - 2:]))
CONFIG = f"""
run = {{name = "bench", rounds = {rounds}, threads = 1}}
method.name = "dfrost"
backbone = {{path = "frost-mini", image_size = 32}}
data.domains = [{{name = "noise", path = "pictures"}}]
data.train_per_domain = 0
data.test_per_domain = 0
partition = {{kind = "iid", clients_per_domain = {sites}, min_per_client = 1}}
network.topology = "full"
evaluate = {{every = 0, clients = 1, samples = 1}}
"""


def write_pictures(folder):
    random = numpy.random.default_rng(2)
    os.mkdir(folder)
    for name, count in (("train", sites * pictures), ("test", 10)):
        pixels = random.integers(0, 256, (count, 3073), dtype=numpy.uint8)
        pixels[:, 0] = numpy.arange(count) % 10
        Path(folder, name + ".bin").write_bytes(pixels.tobytes())


def site_of(folder):
    """Seconds of all rounds, of exchange and of waiting; bytes of a letter."""
    lines = [json.loads(line) for line in Path(folder, "run/metrics.jsonl").read_text().splitlines()]
    waited = json.loads(Path(folder, "run/peer.json").read_text())["stage_seconds"]["exchange"]
    all_of = {stage: sum(line["seconds"][stage] for line in lines) for stage in ("train", "exchange", "merge", "evaluate", "total")}
    letter = lines[-1]["sent_bytes"] / lines[-1]["sent_messages"]
    return all_of["total"] - all_of["evaluate"], all_of["exchange"] - waited, waited, letter


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    Path("bench.toml").write_text(CONFIG)
    write_pictures("pictures")
    subprocess.run([dfrost, "federation", "try", "bench.toml", "--out", "sites"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    total, exchange, waited, letters = (numpy.array(part) for part in zip(*map(site_of, sorted(Path("sites").glob("site-*")))))
    print(json.dumps({"sites": sites, "rounds": rounds, "pictures_of_a_site": pictures, "letter_bytes": letters[0],
                      "milliseconds_of_a_round": 1e3 * total.mean() / rounds, "exchange_milliseconds_of_a_round": 1e3 * exchange.mean() / rounds,
                      "exchange_percent": 100 * exchange.sum() / total.sum(), "waiting_percent": 100 * waited.sum() / total.sum(),
                      "least_waiting_percent": 100 * (waited / total).min()}, indent=1))
