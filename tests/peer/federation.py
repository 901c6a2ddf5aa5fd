"""Sites as processes for tests: made by `dfrost`, started, killed, slowed down, and put behind proxies that cut their links."""

import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path


def free_ports(count):
    """So many that nobody listens on now, below those that the system gives to connections: one of those may be taken again at once."""
    ports = []
    for port in random.sample(range(20000, 32000), 12000):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise RuntimeError("no free ports")


class Proxy:
    """Stands where the others dial a site; knows by which process a connection was made, and can cut it off."""

    def __init__(self, port, target, federation, number):
        self.target, self.federation, self.number = target, federation, number
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(64)
        self.pairs = []  # (dialler, near, far)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, address = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.join, args=(near, address[1]), daemon=True).start()

    def join(self, near, port):
        dialler = self.federation.who_has_port(port)
        if self.federation.is_cut(dialler, self.number):
            near.close()
            return
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        self.pairs.append((dialler, near, far))
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                if self.federation.delay_seconds:
                    time.sleep(self.federation.delay_seconds)
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """Ends the connections that are cut now."""
        for dialler, near, far in list(self.pairs):
            if self.federation.is_cut(dialler, self.number):
                for one in (near, far):
                    try:
                        one.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
                self.pairs.remove((dialler, near, far))


class Federation:
    def __init__(self, dfrost, folder, experiment, sites, rounds, settings=(), proxied=False, quorum=None, keys=None):
        self.dfrost, self.folder, self.count, self.rounds = str(dfrost), Path(folder), sites, rounds
        self.processes = {}
        self.cuts = set()
        self.delay_seconds = 0
        self.proxies = []
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        ports = free_ports(2 * sites)
        self.sites = [self.folder / f"site-{i}" for i in range(sites)]
        for i, site in enumerate(self.sites):
            listen = ports[i]
            address = ports[sites + i] if proxied else listen
            self.run("peer", "init", site, "--name", f"site-{i}", "--address", f"127.0.0.1:{address}")
            lines = {"name": f"site-{i}", "address": f"127.0.0.1:{address}", "listen": f"127.0.0.1:{listen}", "partition": True,
                     "data_root": str(experiment), "backbone": str(experiment / "model.safetensors"), "threads": 1,
                     "heartbeat_seconds": 0.5, "patience_seconds": 120} | (keys or {})
            (site / "peer.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items()))
            if proxied:
                self.proxies.append(Proxy(address, listen, self, i))
        changes = [f"run.rounds={rounds}", f"partition.clients_per_domain={sites // 2}", *settings]
        members = [site / f"{site.name}.member" for site in self.sites]
        self.file = self.folder / "try.federation"
        self.run("federation", "create", experiment / "experiment.toml", *members, "--as", self.sites[0], "--out", self.file,
                 *[word for change in changes for word in ("--set", change)], *(["--quorum", str(quorum)] if quorum else []))
        for site in self.sites:
            self.run("peer", "join", site, self.file, "--yes")

    def run(self, *arguments, check=True):
        done = subprocess.run([self.dfrost, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        if check and done.returncode != 0:
            raise RuntimeError(f"dfrost {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def start(self, number, folder=None, limit_bytes=None):
        site = folder or self.sites[number]
        log = open(site / "log.txt", "ab")

        def limits():
            if limit_bytes is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

        process = subprocess.Popen([self.dfrost, "peer", "start", str(site)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   preexec_fn=limits)
        if folder is None:
            self.processes[number] = process
        return process

    def start_all(self, but=()):
        for i in range(self.count):
            if i not in but:
                self.start(i)

    def kill(self, number):
        process = self.processes.get(number)
        if process and process.poll() is None:
            process.kill()
            process.wait()

    def stop_all(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        for proxy in self.proxies:
            proxy.listener.close()

    def status(self, number):
        try:
            return json.loads((self.sites[number] / "run/peer.json").read_text())
        except (OSError, ValueError):
            return {"done": 0, "round": 0, "stage": "none", "jumps": 0, "adoptions": 0}

    def wait_until(self, what, seconds, described):
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                states = [(self.status(i)["done"], self.status(i)["stage"], self.status(i).get("waiting_for")) for i in range(self.count)]
                raise AssertionError(f"not within {seconds} s: {described}; sites are at {states}")
            time.sleep(0.05)

    def wait_for_round(self, number, round, seconds=120):
        self.wait_until(lambda: self.status(number)["done"] >= round, seconds, f"site {number} has done round {round}")

    def wait_for_end(self, seconds=180, but=()):
        for number, process in self.processes.items():
            if number in but:
                continue
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                states = [(self.status(i)["done"], self.status(i)["stage"], self.status(i).get("waiting_for")) for i in range(self.count)]
                raise AssertionError(f"site {number} has not ended within {seconds} s: {states}") from None
            text = (self.sites[number] / "log.txt").read_text()
            assert code == 0, f"site {number} ended with {code}:\n{text[-2000:]}"
            assert self.status(number)["done"] == self.rounds, f"site {number}: {self.status(number)['done']} rounds"

    def go_on(self, rounds=3):
        """Until each running site has done that many more."""
        for number, before in [(number, self.status(number)["done"]) for number in self.processes]:
            self.wait_for_round(number, before + rounds)

    def end(self):
        """Ends every running site politely, wherever it is."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for number, process in self.processes.items():
            code = process.wait(timeout=60)
            assert code == 0, f"site {number} ended with {code}:\n{(self.sites[number] / 'log.txt').read_text()[-2000:]}"

    def arrivals(self, number):
        return [json.loads(line) for line in (self.sites[number] / "run/arrivals.jsonl").read_text().splitlines()]

    def heard(self, number):
        """From whom a letter came in its last round."""
        phases = self.arrivals(number)[-1].get("phases", [])
        return phases[0]["arrived"] if phases else []

    def missed(self, but=()):
        return sum(len(phase["missing"]) for i in range(self.count) if i not in but
                   for line in self.arrivals(i) for phase in line.get("phases", []))

    def expect_replay(self, but=()):
        sites = [site for i, site in enumerate(self.sites) if i not in but]
        done = self.run("replay", *sites, "--json", check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    # For proxies.
    def who_has_port(self, port):
        for line in open("/proc/net/tcp").read().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].split(":")[1], 16) == port and fields[1].startswith("0100007F"):
                link = f"socket:[{fields[9]}]"
                for number, process in self.processes.items():
                    try:
                        for fd in os.listdir(f"/proc/{process.pid}/fd"):
                            if os.readlink(f"/proc/{process.pid}/fd/{fd}") == link:
                                return number
                    except OSError:
                        continue
        return None

    def is_cut(self, a, b):
        return frozenset((a, b)) in self.cuts

    def cut(self, pairs):
        self.cuts = {frozenset(pair) for pair in pairs}
        for proxy in self.proxies:
            proxy.cut()


def final_losses(federation):
    losses = []
    for site in federation.sites:
        lines = (site / "run/metrics.jsonl").read_text().splitlines()
        losses.append([json.loads(line)["train_loss"] for line in lines])
    return losses


def random_site(federation, seed):
    return random.Random(seed).randrange(federation.count)
