"""What may go wrong with the network between real sites:  by_hand.py DFROST [SCENARIO...] [--soak MINUTES] [--sites N]

Not part of ./test, which has faults.py: it takes minutes and needs root for network namespaces. Every scenario ends in the
same questions: did nobody hang, did no survivor stop, have all that are alive come to the last round, and does
`dfrost replay` compute the same adapters from the recorded arrivals? Without a scenario, all of them but the soak.
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from networks import Federation, Namespaces, Proxied


class Failed(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Failed(what)


class Trial:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.count = arguments, Path(folder), 0
        self.federation = None

    def found(self, sites, **options):
        self.count += 1
        self.federation = Federation(self.arguments.dfrost, self.folder / f"{self.count}", sites, **options)
        return self.federation

    def finish(self, sites=None, seconds=300):
        """All of these end well at the last round, and replay agrees; returns what there is to say."""
        federation = self.federation
        chosen = list(range(federation.sites) if sites is None else sites)
        failed = federation.wait_for_end(chosen, seconds)
        for site in failed:
            print(f"--- site-{site}, process {federation.processes[site].poll()}\n{federation.log(site)[-3000:]}", file=sys.stderr)
        require(not failed, f"sites {failed} did not end well")
        for site in chosen:
            status = federation.status(site)
            require(status["done"] == federation.rounds, f"site-{site} ended at round {status['done']} of {federation.rounds}")
        replay = federation.replay(chosen)
        require(replay.returncode == 0, f"replay differs:\n{replay.stdout}{replay.stderr}")
        return self.counts(chosen)

    def counts(self, chosen):
        total = {"missing_messages": 0, "jumps": 0, "adoptions": 0}
        for site in chosen:
            status = self.federation.status(site)
            for name in total:
                total[name] += status.get(name, 0)
        return ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in total.items())


def no_faults(trial):
    trial.found(8).start()
    return trial.finish()


def link_cut(trial):
    """One link of the graph is down for about three rounds."""
    federation = trial.found(6, rounds=16, network=Namespaces(6), topology="full")
    federation.start()
    federation.wait_for_round(3)
    federation.network.cut_pair(0, 1, True)
    federation.wait_for_round(6, seconds=120)
    federation.network.cut_pair(0, 1, False)
    return trial.finish()


def partition(trial):
    """Two halves that cannot see each other go on, and come together again."""
    federation = trial.found(8, rounds=24, network=Namespaces(8), topology="full")
    federation.start()
    federation.wait_for_round(3)
    federation.network.cut_in_halves(True)
    require(federation.wait_for_round(8, seconds=240), "the halves did not go on")
    federation.network.cut_in_halves(False)
    return trial.finish()


def unplugged(trial):
    """A site whose cable is out for a while: half-open connections at all others."""
    federation = trial.found(5, rounds=20, network=Namespaces(5))
    federation.start()
    federation.wait_for_round(3)
    federation.network.unplug(2, True)
    require(federation.wait_for_round(8, sites=[0, 1, 3, 4]), "the others did not go on")
    federation.network.unplug(2, False)
    return trial.finish()


def delay_and_loss(trial):
    federation = trial.found(5, rounds=8, network=Proxied(5, delay_seconds=0.15, loss=0.05), heartbeat=2)
    federation.start()
    said = trial.finish(seconds=500)
    require(" 0 missing" in " " + said, f"a link that is merely slow lost messages: {said}")
    return said


def frozen_site(trial):
    """A process that hangs: its kernel still acknowledges. The others go on, and it catches up."""
    federation = trial.found(5, rounds=25)
    federation.start()
    federation.wait_for_round(3)
    federation.kill(1, signal.SIGSTOP)
    require(federation.wait_for_round(10, sites=[0, 2, 3, 4]), "the others waited for a process that hangs")
    federation.processes[1].send_signal(signal.SIGCONT)
    return trial.finish()


def no_quorum(trial):
    """Fewer than the quorum: nobody trains, and everybody says whom it waits for."""
    federation = trial.found(4, rounds=4, quorum=4)
    federation.start(0, 1)
    time.sleep(8)
    require(federation.done(0) == 0 and federation.done(1) == 0, "rounds were made without the quorum")
    federation.start(2, 3)
    return trial.finish()


def clocks_apart(trial):
    if not shutil.which("faketime"):
        return "SKIPPED: needs faketime"
    federation = trial.found(4, rounds=8)
    federation.start(0, 1)
    federation.start(2, before=["faketime", "-f", "+9d"])
    federation.start(3, before=["faketime", "-f", "-400d"])
    said = trial.finish()
    require(" 0 missing" in " " + said, said)
    return said


def many_sites(trial):
    """How much 64 sites on one machine take."""
    sites = trial.arguments.sites
    federation = trial.found(sites, rounds=5, heartbeat=5)
    started = time.monotonic()
    federation.start()
    require(federation.wait_for_round(1, seconds=500), "the first round did not end")
    first = time.monotonic()
    peak = 0
    while any(p.poll() is None for p in federation.processes):
        peak = max(peak, sum(resident(p.pid) for p in federation.processes if p.poll() is None))
        time.sleep(0.3)
    rate = (federation.rounds - 1) / (time.monotonic() - first)
    said = trial.finish(seconds=600)
    sent = sum(federation.status(site).get("sent_bytes", 0) for site in range(sites))
    return (f"{sites} sites: first round after {first - started:.1f} s, then {rate:.2f} rounds/s, {peak / sites / 1e6:.1f} MB resident "
            f"each, {sent / sites / federation.rounds / 1e3:.1f} kB sent per site and round; {said}")


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0


def soak(trial):
    """For a while: kills, hangs, cuts, all at random; federations one after the other."""
    end = time.monotonic() + 60 * trial.arguments.soak
    rng = random.Random(trial.arguments.seed)
    federations = kills = hangs = cuts = 0
    while time.monotonic() < end:
        federation = trial.found(6, rounds=40, network=Namespaces(6))
        federation.start()
        for _ in range(12):
            time.sleep(rng.uniform(0.2, 3))
            site = rng.randrange(6)
            process = federation.processes[site]
            if process.poll() is not None:
                continue
            what = rng.choice(["kill", "hang", "cut"])
            if what == "kill":
                federation.kill(site)
                time.sleep(rng.uniform(0, 4))
                federation.start(site)
                kills += 1
            elif what == "hang":
                process.send_signal(signal.SIGSTOP)
                time.sleep(rng.uniform(0, 4))
                process.send_signal(signal.SIGCONT)
                hangs += 1
            else:
                federation.network.unplug(site, True)
                time.sleep(rng.uniform(0, 4))
                federation.network.unplug(site, False)
                cuts += 1
        print(f"  federation {federations + 1}: {trial.finish()}", flush=True)
        federation.remove()
        federations += 1
    return f"{federations} federations of 6, {kills} kills, {hangs} hangs, {cuts} cables pulled: every one ended, every replay equal"


SCENARIOS = [no_faults, link_cut, partition, unplugged, delay_and_loss, frozen_site, no_quorum, clocks_apart, many_sites]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dfrost", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("scenario", nargs="*", help=", ".join(s.__name__ for s in [*SCENARIOS, soak]))
    parser.add_argument("--sites", type=int, default=64)
    parser.add_argument("--soak", type=float, default=30, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave the folders for a look")
    arguments = parser.parse_args()
    chosen = [s for s in [*SCENARIOS, soak] if s.__name__ in arguments.scenario] if arguments.scenario else SCENARIOS
    failures = 0
    folder = tempfile.mkdtemp(prefix="dfrost-faults-")
    trial = Trial(arguments, folder)
    for scenario in chosen:
        started = time.monotonic()
        try:
            said, well = scenario(trial), True
        except (Failed, RuntimeError, subprocess.TimeoutExpired) as error:
            said, well = str(error), False
            failures += 1
        finally:
            if trial.federation:
                (trial.federation.stop_all if arguments.keep or not well else trial.federation.remove)()
                trial.federation = None
        print(f"{'ok    ' if well else 'FAILED'} {scenario.__name__:16} {time.monotonic() - started:6.1f} s  {said}", flush=True)
    if not failures and not arguments.keep:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"left in {folder}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
