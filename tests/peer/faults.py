"""What happens to a federation of real sites when something goes wrong:  faults.py DFROST MAKE_EXPERIMENT SCENARIO

In each: nobody hangs, no survivor stops, all that are alive reach the last round, and a replay of who heard whom gives the states
that the sites have. Where something must happen while the others are under way, the rounds are more than any machine does
meanwhile, and the sites are ended once it has happened and all have gone on."""

import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from federation import Federation

ENDLESS = 100_000  # rounds
WHITENED = ["train.head_coordinates=whitened", "merge.head=class-mass"]  # moments are mixed before the first round


def killed_sites_come_back(make, folder):
    """kill -9 at random moments; what the killed one had not sent, it sends again."""
    federation = make(folder, sites=4, rounds=24)
    draw = random.Random(1)
    federation.start_all()
    try:
        for kill in range(4):
            victim = draw.randrange(4)
            federation.wait_for_round(victim, min(2 + 3 * kill, 16))
            time.sleep(draw.random() * 0.1)
            federation.kill(victim)
            if draw.random() < 0.5:
                time.sleep(draw.random())
            federation.start(victim)
        federation.wait_for_end()
        return federation.expect_replay()
    finally:
        federation.stop_all()


def all_stop_and_go_on_without_a_letter_lost(make, folder):
    """Every process ends at once, in different rounds, and starts again: the bytes are those of an undisturbed simulation."""
    federation = make(folder, sites=4, rounds=16, keys={"heartbeat_seconds": 5})
    federation.start_all()
    try:
        federation.wait_for_round(0, 4)
        federation.end()
        federation.start_all()
        federation.wait_for_end()
        assert federation.missed() == 0, f"{federation.missed()} letters were missed"
        return federation.expect_replay()
    finally:
        federation.stop_all()


def a_late_site_begins_with_a_neighbours_state(make, folder):
    """It starts when the others, who are a quorum, are well on their way."""
    federation = make(folder, sites=4, rounds=ENDLESS, quorum=3)
    federation.start_all(but=[3])
    try:
        federation.wait_for_round(0, 4)
        federation.start(3)
        federation.wait_for_round(3, 5)
        federation.go_on()
        federation.end()
        assert any("adopted" in line for line in federation.arrivals(3)), federation.arrivals(3)[:3]
        return federation.expect_replay()
    finally:
        federation.stop_all()


def a_site_that_never_starts_is_done_without(make, folder):
    federation = make(folder, sites=4, rounds=5, quorum=3)
    federation.start_all(but=[2])
    try:
        federation.wait_for_end()
        return federation.expect_replay(but=[2])
    finally:
        federation.stop_all()


def a_lost_state_is_found_again_at_the_neighbours(make, folder):
    federation = make(folder, sites=4, rounds=ENDLESS)
    federation.start_all()
    try:
        federation.wait_for_round(1, 4)
        federation.kill(1)
        shutil.rmtree(federation.sites[1] / "run")
        federation.wait_for_round(0, 8)
        federation.start(1)
        federation.wait_for_round(1, 8)
        federation.go_on()
        federation.end()
        assert any("adopted" in line for line in federation.arrivals(1)), federation.arrivals(1)[:3]
        # What it sent before the loss is nowhere recorded: the others' states cannot be computed again from the records.
    finally:
        federation.stop_all()


def a_second_process_with_the_same_key_is_refused(make, folder):
    """In the same folder by the lock; in a copy of it by the others."""
    federation = make(folder, sites=4, rounds=ENDLESS)
    federation.start_all()
    try:
        federation.wait_for_round(2, 2)
        # The same folder, first.
        twice = federation.run("peer", "start", federation.sites[2], check=False)
        assert twice.returncode == 1 and "another process" in twice.stderr, twice.stderr
        copy = folder / "copy"
        shutil.copytree(federation.sites[2], copy, ignore=shutil.ignore_patterns("run", "log.txt"))
        text = (copy / "peer.toml").read_text()
        (copy / "peer.toml").write_text(re.sub('listen = .*', 'listen = "127.0.0.1:0"', text))
        twin = federation.start(2, folder=copy)
        code = twin.wait(timeout=60)
        assert code == 1, f"the twin ended with {code}: {(copy / 'log.txt').read_text()}"
        assert "another process with this site's key" in (copy / "log.txt").read_text()
        federation.end()
        assert federation.missed() == 0, f"{federation.missed()} letters were missed"
        return federation.expect_replay()
    finally:
        federation.stop_all()


def a_slow_site_is_waited_for(make, folder):
    """Stopped nine tenths of the time: all go at its pace, and nothing is missed."""
    federation = make(folder, sites=4, rounds=5, keys={"heartbeat_seconds": 5})
    federation.start_all()
    try:
        slow = federation.processes[3]
        while slow.poll() is None:
            slow.send_signal(signal.SIGSTOP)
            time.sleep(0.18)
            slow.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        federation.wait_for_end()
        assert federation.missed() == 0, f"{federation.missed()} letters were missed"
        return federation.expect_replay()
    finally:
        federation.stop_all()


def a_full_disk_stops_one_site_alone(make, folder):
    """Its files may not grow any more; the others go on, and it goes on too once there is room."""
    federation = make(folder, sites=4, rounds=ENDLESS)
    federation.start_all(but=[0])
    try:
        process = federation.start(0, limit_bytes=8 << 10)
        code = process.wait(timeout=60)
        assert code == 1, f"it ended with {code}"
        assert "error:" in (federation.sites[0] / "log.txt").read_text()
        federation.start(0)
        federation.wait_for_round(0, 5)
        federation.go_on()
        federation.end()
        return federation.expect_replay()
    finally:
        federation.stop_all()


def a_cut_link_is_gone_around_and_mended(make, folder):
    """One link, for three rounds and more."""
    federation = make(folder, sites=4, rounds=ENDLESS, proxied=True, settings=["network.topology=\"full\""])
    federation.start_all()
    try:
        federation.wait_for_round(0, 3)
        federation.cut([(0, 1)])
        federation.wait_for_round(0, federation.status(0)["done"] + 3)
        federation.cut([])
        federation.wait_until(lambda: len(federation.heard(0)) == 3, 60, "site 0 hears all again")
        federation.go_on()
        federation.end()
        assert federation.missed() > 0
        return federation.expect_replay()
    finally:
        federation.stop_all()


def two_halves_go_on_and_find_each_other(make, folder):
    federation = make(folder, sites=4, rounds=ENDLESS, proxied=True, settings=["network.topology=\"full\""])
    federation.start_all()
    try:
        federation.wait_for_round(0, 3)
        federation.cut([(a, b) for a in (0, 1) for b in (2, 3)])
        for half in (0, 2):
            federation.wait_for_round(half, federation.status(half)["done"] + 3)
        federation.cut([])
        for site in (0, 2):
            federation.wait_until(lambda: len(federation.heard(site)) == 3, 60, f"site {site} hears all again")
        federation.go_on()
        federation.end()
        return federation.expect_replay()
    finally:
        federation.stop_all()


def lines_of(federation, number):
    try:
        return (federation.sites[number] / "run/arrivals.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def prepared_by(federation, number):
    """Phases of round 0, each as it was done last: who was heard in it, and who was not."""
    phases = {}
    for line in federation.arrivals(number):
        if line["round"] == 0:
            phases.update(enumerate(line["phases"], line.get("first_phase", 0)))
    return [phases[phase] for phase in sorted(phases)]


def a_killed_preparation_is_gone_on_with(make, folder):
    """kill -9 while moments are mixed, of which there is much to do; what others heard of it stays true."""
    federation = make(folder, sites=4, rounds=2, settings=[*WHITENED, "train.moment_rounds=300"])
    draw = random.Random(1)
    federation.start_all()
    try:
        for kill in range(4):
            victim = draw.randrange(4)
            federation.wait_until(lambda: lines_of(federation, victim) >= 10 + 60 * kill, 120, "moments are mixed")
            federation.kill(victim)
            time.sleep(draw.choice([0, 2]))  # the others wait, or go on without it
            federation.start(victim)
        federation.wait_for_end()
        assert all(len(prepared_by(federation, i)) == 300 for i in range(4))
        assert "of 300 exchanges of moments" in (federation.sites[victim] / "run/run.log").read_text()
        return federation.expect_replay()
    finally:
        federation.stop_all()


def who_comes_late_is_prepared_by_kept_letters(make, folder):
    """A site that starts late, and one that has lost its state: neither takes moments of its own pictures for all there are."""
    federation = make(folder, sites=4, rounds=ENDLESS, quorum=3, settings=[*WHITENED, "network.topology=\"full\""])
    federation.start_all(but=[3])
    try:
        federation.wait_for_round(0, 6)
        federation.start(3)
        federation.wait_for_round(3, 7)
        federation.go_on()
        federation.end()
        assert [phase["arrived"] for phase in prepared_by(federation, 3)] == 10 * [[0, 1, 2]], prepared_by(federation, 3)
        replay = federation.expect_replay()
        shutil.rmtree(federation.sites[1] / "run")
        federation.start_all(but=[1])
        federation.wait_for_round(0, federation.status(0)["done"] + 3)
        federation.start(1)
        federation.wait_until(lambda: federation.status(1)["adoptions"] > 0, 120, "site 1 has a state again")
        federation.end()
        assert [phase["arrived"] for phase in prepared_by(federation, 1)] == 10 * [[0, 2, 3]], prepared_by(federation, 1)
        return replay
    finally:
        federation.stop_all()


SCENARIOS = {function.__name__: function for function in (
    killed_sites_come_back, all_stop_and_go_on_without_a_letter_lost, a_late_site_begins_with_a_neighbours_state,
    a_site_that_never_starts_is_done_without, a_lost_state_is_found_again_at_the_neighbours,
    a_second_process_with_the_same_key_is_refused, a_slow_site_is_waited_for, a_full_disk_stops_one_site_alone,
    a_cut_link_is_gone_around_and_mended, two_halves_go_on_and_find_each_other, a_killed_preparation_is_gone_on_with,
    who_comes_late_is_prepared_by_kept_letters)}


def main():
    dfrost, make_experiment, scenario = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.system(f"'{make_experiment}' '{folder}/experiment'")

        def make(where, **how):
            return Federation(dfrost, where / "sites", folder / "experiment", **how)

        began = time.monotonic()
        replay = SCENARIOS[scenario](make, folder)
        print(f"{scenario}: {time.monotonic() - began:.1f} s")
        if replay:
            for site in replay["sites"]:
                print(f"  {site['name']}: {site['trained']} rounds, {site['missed']} letters missed, {site['jumps']} jumps, "
                      f"{site['adoptions']} adoptions, {'same bytes' if site['same'] else site['problem']}")


if __name__ == "__main__":
    main()
