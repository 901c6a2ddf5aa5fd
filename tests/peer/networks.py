"""A federation of real processes on this machine, for the scripts of this folder that try what may go wrong with one.

Sites talk over loopback, each optionally behind a proxy that delays and stalls, or in network namespaces of their own
whose links can be cut. Everything is made here and taken down here.
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from federation import free_ports

EXPERIMENT = """
[run]
name = "trial"
rounds = {rounds}
seed = 7
threads = 1
[backbone]
path = "frost-mini"
precision = "fp32"
image_size = 32
[data]
domains = [{{name = "squares", path = "{data}/squares"}}]
train_per_domain = 0
test_per_domain = 0
[partition]
kind = "iid"
clients_per_domain = {sites}
min_per_client = 1
[network]
topology = "{topology}"
degree = 2
[method]
name = "{method}"
[train]
epochs = {epochs}
[prompts]
count = 3
"""


class Loopback:
    """Sites as neighbours on 127.0.0.1."""

    def __init__(self, sites):
        self.ports = free_ports(sites)

    def listen(self, site):
        return f"127.0.0.1:{self.ports[site]}"

    address = listen

    def inside(self, site):
        return []

    def close(self):
        pass


class Namespaces:
    """Each site in a network namespace; two switches, one for each half, joined by one cable."""

    def __init__(self, sites):
        self.sites = sites
        self.mark = f"dfrost{os.getpid()}"
        self.hub = f"{self.mark}-hub"
        self.ip("netns", "add", self.hub)
        for half in "ab":
            self.hub_ip("link", "add", f"switch-{half}", "type", "bridge")
            self.hub_ip("link", "set", f"switch-{half}", "up")
        self.hub_ip("link", "add", "cable-a", "type", "veth", "peer", "name", "cable-b")
        for half in "ab":
            self.hub_ip("link", "set", f"cable-{half}", "master", f"switch-{half}", "up")
        for site in range(sites):
            self.add(site)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    def hub_ip(self, *words):
        self.ip("-n", self.hub, *words)

    def name(self, site):
        return f"{self.mark}-{site}"

    def half(self, site):
        return "a" if site < self.sites // 2 else "b"

    def add(self, site):
        self.ip("netns", "add", self.name(site))
        self.hub_ip("link", "add", f"port-{site}", "type", "veth", "peer", "name", "eth0", "netns", self.name(site))
        self.hub_ip("link", "set", f"port-{site}", "master", f"switch-{self.half(site)}", "up")
        self.ip("-n", self.name(site), "addr", "add", f"{self.host(site)}/24", "dev", "eth0")
        self.ip("-n", self.name(site), "link", "set", "eth0", "up")
        self.ip("-n", self.name(site), "link", "set", "lo", "up")

    def host(self, site):
        return f"10.77.0.{site + 1}"

    def listen(self, site):
        return f"{self.host(site)}:7443"

    address = listen

    def inside(self, site):
        return ["ip", "netns", "exec", self.name(site)]

    def cut_in_halves(self, cut):
        self.hub_ip("link", "set", "cable-a", "down" if cut else "up")

    def unplug(self, site, cut):
        self.hub_ip("link", "set", f"port-{site}", "down" if cut else "up")

    def cut_pair(self, one, other, cut):
        for a, b in ((one, other), (other, one)):
            self.ip("-n", self.name(a), "route", "add" if cut else "del", "blackhole", f"{self.host(b)}/32")

    def close(self):
        for site in range(self.sites):
            self.ip("netns", "del", self.name(site))
        self.ip("netns", "del", self.hub)


class Proxied(Loopback):
    """Each site behind a relay that holds every piece back for a while, and now and then, as a lost packet would, for longer."""

    def __init__(self, sites, delay_seconds=0.0, loss=0.0, retransmit_seconds=0.4):
        super().__init__(sites)
        self.delay, self.loss, self.retransmit = delay_seconds, loss, retransmit_seconds
        self.fronts = []
        for site in range(sites):
            front = socket.create_server(("127.0.0.1", 0))
            self.fronts.append(front)
            threading.Thread(target=self.accept, args=(front, self.ports[site]), daemon=True).start()

    def address(self, site):
        return f"127.0.0.1:{self.fronts[site].getsockname()[1]}"

    def accept(self, front, port):
        while True:
            try:
                near, _ = front.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", port))
            except OSError:
                near.close()
                continue
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        """Pieces leave in order, each no sooner than its delay says; what is under way does not hold up reading."""
        pieces, ready = [], threading.Condition()

        def deliver():
            while True:
                with ready:
                    while not pieces:
                        ready.wait()
                    due, data = pieces.pop(0)
                time.sleep(max(0.0, due - time.monotonic()))
                try:
                    if data is None:
                        sink.shutdown(socket.SHUT_WR)
                        return
                    sink.sendall(data)
                except OSError:
                    return
        threading.Thread(target=deliver, daemon=True).start()
        last = 0.0
        while True:
            try:
                data = source.recv(16384) or None
            except OSError:
                data = None
            due = time.monotonic() + self.delay
            if random.random() < self.loss:
                due += self.retransmit
            last = max(due, last)
            with ready:
                pieces.append((last, data))
                ready.notify()
            if data is None:
                return

    def close(self):
        for front in self.fronts:
            front.close()


class Federation:
    """Sites in a folder; starts, stops and watches their processes."""

    def __init__(self, dfrost, folder, sites, rounds=12, network=None, quorum=None, method="dfrost", topology="regular",
                 heartbeat=0.5, epochs=1, pictures=6):
        self.dfrost, self.folder, self.sites, self.rounds = dfrost, Path(folder), sites, rounds
        self.network = network or Loopback(sites)
        self.processes = [None] * sites
        self.closed = False
        self.tries = [0] * sites
        self.folder.mkdir(parents=True)
        self.write_pictures(sites * pictures)
        self.experiment = self.folder / "trial.toml"
        self.experiment.write_text(EXPERIMENT.format(rounds=rounds, sites=sites, data=self.folder / "data", method=method,
                                                     topology=topology, epochs=epochs))
        for site in range(sites):
            self.call("peer", "init", self.site(site), "--name", f"site-{site}", "--address", self.network.address(site),
                      "--listen", self.network.listen(site), "--partition")
            settings = self.site(site) / "peer.toml"
            settings.write_text(settings.read_text() + f'\ndata_root = "{self.folder / "data"}"\nthreads = 1\n'
                                f"heartbeat_seconds = {heartbeat}\npatience_seconds = 120\n")
        members = [self.site(site) / f"site-{site}.member" for site in range(sites)]
        more = ["--quorum", str(quorum)] if quorum else []
        self.file = self.folder / "trial.federation"
        made = json.loads(self.call("federation", "create", self.experiment, "--as", self.site(0), *members, "--out", self.file,
                                    "--json", *more))
        self.fingerprint = made["fingerprint"]
        for site in range(sites):
            self.join(site)

    def write_pictures(self, count):
        folder = self.folder / "data" / "squares"
        folder.mkdir(parents=True)
        rng = random.Random(3)
        records = (bytes([i % 2] + [min(255, max(0, 190 - 140 * (i % 2) + rng.randrange(-40, 40)))] * 1024 + [40] * 2048)
                   for i in range(2 * count))
        (folder / "train.bin").write_bytes(b"".join(records))

    def site(self, number):
        return self.folder / f"site-{number}"

    def call(self, *words, check=True, inside=()):
        done = subprocess.run([*inside, self.dfrost, *map(str, words)], capture_output=True, text=True, timeout=300)
        if check and done.returncode:
            raise RuntimeError(f"dfrost {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout if check else done

    def join(self, site):
        self.call("peer", "join", self.site(site), self.file, "--fingerprint", self.fingerprint)

    def start(self, *sites, before=()):
        for site in sites if sites else range(self.sites):
            self.tries[site] += 1
            log = open(self.folder / f"site-{site}.{self.tries[site]}.log", "wb")
            self.processes[site] = subprocess.Popen([*self.network.inside(site), *before, self.dfrost, "peer", "start", self.site(site)],
                                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            log.close()

    def kill(self, site, how=signal.SIGKILL):
        process = self.processes[site]
        if process and process.poll() is None:
            process.send_signal(how)
        if process and how != signal.SIGSTOP:
            process.wait(120)

    def stop_all(self):
        if self.closed:
            return
        self.closed = True
        for process in self.processes:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait(60)
        self.network.close()

    def status(self, site):
        try:
            return json.loads((self.site(site) / "run" / "peer.json").read_text())
        except (OSError, ValueError):
            return {"round": 0, "done": 0, "ended": ""}

    def done(self, site):
        return self.status(site)["done"]

    def wait(self, ready, seconds=240):
        """Whether it came to be within that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if ready():
                return True
            time.sleep(0.05)
        return False

    def wait_for_round(self, number, sites=None, seconds=240):
        chosen = range(self.sites) if sites is None else sites
        return self.wait(lambda: all(self.done(site) >= number for site in chosen), seconds)

    def wait_for_end(self, sites=None, seconds=240):
        """All processes of these sites ended well."""
        chosen = list(range(self.sites) if sites is None else sites)
        self.wait(lambda: all(self.processes[site].poll() is not None for site in chosen), seconds)
        return [site for site in chosen if self.processes[site].poll() != 0]

    def replay(self, sites=None):
        chosen = range(self.sites) if sites is None else sites
        return self.call("replay", *[self.site(site) for site in chosen], check=False)

    def log(self, site):
        return b"".join((self.folder / f"site-{site}.{t}.log").read_bytes() for t in range(1, self.tries[site] + 1)).decode()

    def remove(self):
        self.stop_all()
        shutil.rmtree(self.folder, ignore_errors=True)
