"""Hours of what can go wrong with a federation of real sites:  soak.py DFROST MAKE_EXPERIMENT [--minutes M] [--kills N] [--sites N] [--seed S]

Sites of the small experiment run on loopback while random ones are killed (kill -9), stopped for a while, and started again after
none, some or many rounds; a federation that is done is replayed, and the next one begins. Prints its figures at the end and fails where
a site hangs, ends, or is not what its letters lead to. Run by hand; not part of the tests."""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from federation import Federation


def resident_kilobytes(process):
    try:
        for line in open(f"/proc/{process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


class Soak:
    def __init__(self, arguments, experiment, folder):
        self.arguments, self.experiment, self.folder = arguments, experiment, folder
        self.draw = random.Random(arguments.seed)
        self.figures = {"federations": 0, "rounds": 0, "kills": 0, "pauses": 0, "letters": 0, "missed": 0, "jumps": 0, "adoptions": 0,
                        "longest_wait_seconds": 0.0, "largest_resident_kB": 0}

    def is_over(self):
        if self.arguments.kills:
            return self.figures["kills"] >= self.arguments.kills
        return time.monotonic() - self.began > 60 * self.arguments.minutes

    def disturb(self, federation):
        victim = self.draw.randrange(federation.count)
        process = federation.processes[victim]
        # One that has not begun waits for a quorum, which the others, done in seconds, would never be again; and one that
        # is killed before it comes to anything never ends.
        done = federation.status(victim)["done"]
        if process.poll() is not None or done <= self.disturbed_at.get(victim, 0):
            return
        self.disturbed_at[victim] = done
        if self.draw.random() < 0.8:
            federation.kill(victim)
            self.figures["kills"] += 1
            time.sleep(self.draw.choice([0, 0, 0.2, 1, 3]))
            federation.start(victim)
        else:
            process.send_signal(signal.SIGSTOP)
            time.sleep(self.draw.choice([0.2, 1, 3]))
            process.send_signal(signal.SIGCONT)
            self.figures["pauses"] += 1

    def one_federation(self):
        method = self.draw.choice(["dfrost", "dfedavgm", "d2"])
        topology = self.draw.choice(["ring", "full", "regular"])
        settings = [f"method.name={method}", f"network.topology={topology}", "network.degree=3", "train.learning_rate=0.01"]
        settings.append("train.head_coordinates=" + self.draw.choice(["raw", "whitened"]))
        federation = Federation(self.arguments.dfrost, self.folder, self.experiment, sites=self.arguments.sites, rounds=60, settings=settings)
        federation.start_all()
        self.disturbed_at = {}  # of each site, the rounds it had done
        try:
            last_change, done = time.monotonic(), 0
            while any(process.poll() is None for process in federation.processes.values()):
                time.sleep(self.draw.random() * 0.5)
                if not self.is_over():
                    self.disturb(federation)
                now = sum(federation.status(i)["done"] for i in range(federation.count))
                if now != done:
                    self.figures["longest_wait_seconds"] = max(self.figures["longest_wait_seconds"], time.monotonic() - last_change)
                    last_change, done = time.monotonic(), now
                assert time.monotonic() - last_change < 120, "nothing went on for two minutes"
                for process in federation.processes.values():
                    self.figures["largest_resident_kB"] = max(self.figures["largest_resident_kB"], resident_kilobytes(process))
            federation.wait_for_end(seconds=5)
            replay = federation.expect_replay()
            self.figures["federations"] += 1
            for site in replay["sites"]:
                for name, figure in (("rounds", "trained"), ("missed", "missed"), ("jumps", "jumps"), ("adoptions", "adoptions")):
                    self.figures[name] += site[figure]
            for i in range(federation.count):
                self.figures["letters"] += sum(len(p["arrived"]) for line in federation.arrivals(i) for p in line.get("phases", []))
        finally:
            federation.stop_all()

    def run(self):
        self.began = time.monotonic()
        while not self.is_over():
            self.one_federation()
            self.figures["minutes"] = round((time.monotonic() - self.began) / 60, 1)
            print(json.dumps(self.figures), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dfrost")
    parser.add_argument("make_experiment")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--kills", type=int, default=0, help="end after so many instead")
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        experiment = Path(name) / "experiment"
        if os.system(f"'{arguments.make_experiment}' '{experiment}'") != 0:
            sys.exit(2)
        Soak(arguments, experiment, Path(name) / "sites").run()


if __name__ == "__main__":
    main()
