"""`dfrost watch` over loopback, as browsers and others meet it.

    watch.py DFROST written           a run that a writer appends to, deletes and makes anew; many viewers; the unwelcome
    watch.py DFROST real SHARED_DATA  a real run, killed and resumed: viewers end with what its records hold, and the
                                      command that it shows makes the same again
"""
import glob
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 120  # seconds for anything; a busy machine is no failure

dfrost, what = sys.argv[1:3]
folder = tempfile.TemporaryDirectory()
run = os.path.join(folder.name, "runs", "live")


class Watch:
    """The server; with port 0, on one of its own choosing."""

    def __init__(self, path, port=0):
        self.process = subprocess.Popen([dfrost, "watch", path, "--port", str(port)], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        address = self.process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), address
        self.port = int(address.rstrip("/").rsplit(":", 1)[1])

    def get(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE) == 0, "Ctrl-C ends it well"


class Viewer:
    """A page that listens, reduced to what it would show."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.connection.request("GET", "/events")
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        assert self.answer.getheader("Content-Type") == "text/event-stream"
        self.document = None
        self.kinds = []

    def take_event(self):
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream ended"
            if line.startswith("data: "):
                break
        event = json.loads(line[6:])
        (kind, value), = event.items()
        self.kinds.append(kind)
        if kind == "replace":
            self.document = value
        else:
            mine = self.document["runs"][value["run"]]
            mine["rounds"] += value["rounds"]
            mine["merges"] += value["merges"]
            mine["summary"] = value["summary"]
        return kind

    def rounds(self):
        return [r["round"] for r in self.document["runs"][0]["rounds"]]

    def wait_for(self, rounds):
        while self.document is None or self.rounds() != rounds:
            self.take_event()

    def wait_for_a_round(self):
        """The first that is seen; a server that looks seldom, or a fast run, may show several at once."""
        while self.document is None or not self.rounds():
            self.take_event()


def write(name, text, mode="w"):
    os.makedirs(run, exist_ok=True)
    with open(os.path.join(run, name), mode) as file:
        file.write(text)


def add_round(number):
    write("metrics.jsonl", json.dumps({"schema": 1, "round": number, "train_loss": 1 / number}) + "\n", "a")


def the_run_is_followed(watch):
    viewer = Viewer(watch.port)
    viewer.take_event()
    assert viewer.document["live"] and viewer.rounds() == []
    assert "waiting" in viewer.document["runs"][0]["problems"][0]
    add_round(1)
    viewer.wait_for([1])
    add_round(2)
    viewer.wait_for([1, 2])
    assert viewer.kinds[-1] == "append"
    write("metrics.jsonl", '{"schema":1,"round":3,"tra', "a")  # half a line is nothing
    write("summary.json", '{"schema":1,"name":"<script>","rounds":2}')
    viewer.take_event()
    assert viewer.rounds() == [1, 2]
    write("metrics.jsonl", 'in_loss":0.25}\n', "a")
    viewer.wait_for([1, 2, 3])
    shutil.rmtree(run)
    viewer.wait_for([])
    add_round(1)
    viewer.wait_for([1])


def many_viewers_see_the_same(watch):
    viewers = [Viewer(watch.port) for _ in range(60)]
    for viewer in viewers:
        viewer.take_event()
        assert viewer.rounds() == [1]
    add_round(2)
    for viewer in viewers:
        viewer.wait_for([1, 2])
    status, page = watch.get("/")
    assert status == 200 and 'id="dfrost-data"' in page, "and the page is still served"
    return viewers


def nothing_else_is_served(watch):
    secret = os.path.join(folder.name, "secret.txt")
    with open(secret, "w") as file:
        file.write("SECRET")
    write("config.toml", "# SECRET of the run\n")
    for path in ["/secret.txt", "/../secret.txt", "/../../secret.txt", "/..%2f..%2fsecret.txt", "/%2e%2e/%2e%2e/secret.txt",
                 "//" + secret, secret, "/runs/live/config.toml", "/config.toml", "/./config.toml", "/metrics.jsonl",
                 "/events/../config.toml", "/..\\..\\secret.txt", "/%00", "/?file=../secret.txt#/..", "*"]:
        status, body = watch.get(path)
        shown = path.startswith("/?")  # a query changes nothing
        assert status == 200 if shown else status in (400, 404), (path, status)
        assert shown or "SECRET" not in body, path
    for host in ("evil.example", "evil.example:%d" % watch.port, "127.0.0.1.evil.example"):
        assert watch.get("/", Host=host)[0] == 403, host
    assert watch.get("/", Host="localhost:%d" % watch.port)[0] == 200
    status, document = watch.get("/data.json")
    assert status == 200 and json.loads(document)["schema"] == 1


def nonsense_does_no_harm(watch):
    for request in [b"\x00" * 1000, b"GET", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10, b"A" * 100_000,
                    b"POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx"]:
        with socket.create_connection(("127.0.0.1", watch.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(request)
            except OSError:
                pass
    assert watch.get("/")[0] == 200


def memory_of(watch, name):
    """VmHWM or VmSize, in bytes."""
    with open(f"/proc/{watch.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name + ":"))


def send_much(watch, first, piece, count):
    """As much as the server takes; what it answers, if it says anything before it hangs up."""
    with socket.create_connection(("127.0.0.1", watch.port), timeout=PATIENCE) as connection:
        try:
            connection.sendall(first)
            for _ in range(count):
                connection.sendall(piece)
        except OSError:
            pass
        try:
            return connection.recv(100)
        except OSError:
            return b""


def nobody_waits_for_those_who_drip(watch):
    drips = []
    for _ in range(400):  # more than are served at once
        drips.append(socket.create_connection(("127.0.0.1", watch.port), timeout=PATIENCE))
        drips[-1].sendall(b"GET / HTTP/1.1\r\nHost: local")
    stop = threading.Event()

    def drip():
        while not stop.wait(0.5):
            for connection in drips:
                try:
                    connection.sendall(b"h")
                except OSError:
                    pass
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert watch.get("/")[0] == 200
        viewer = Viewer(watch.port)
        viewer.take_event()
        silent = drips[-1]  # whoever never ends a request is let go
        while silent.recv(1000):
            pass
        assert watch.get("/")[0] == 200
    except ConnectionResetError:
        pass
    finally:
        stop.set()
        thread.join()
        for connection in drips:
            connection.close()


def nothing_large_is_taken(watch):
    _, page = watch.get("/")
    before = memory_of(watch, "VmHWM")
    megabyte = b"X: " + b"y" * 100 + b"\r\n"
    megabyte *= 10_000
    assert send_much(watch, b"GET / HTTP/1.1\r\nHost: localhost\r\n", megabyte, 200)[:12] in (b"HTTP/1.1 431", b"")
    chunk = b"100000\r\n" + b"z" * 0x100000 + b"\r\n"
    for method in (b"GET", b"POST"):
        head = method + b" /events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert send_much(watch, head, chunk, 200)[:10] in (b"HTTP/1.1 4", b"")
    ranges = "bytes=" + ",".join(["0-"] * 1500)
    status, body = watch.get("/", Range=ranges)
    assert (status, body) == (200, page), "ranges are not for us"
    slow = [socket.create_connection(("127.0.0.1", watch.port), timeout=PATIENCE) for _ in range(100)]
    for connection in slow:  # who asks and does not read
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert watch.get("/")[0] == 200
    for connection in slow:
        connection.close()
    grown = memory_of(watch, "VmHWM") - before
    assert grown < 64 << 20, f"{grown >> 20} MB more than before"
    for method, status in (("HEAD", 200), ("POST", 405), ("DELETE", 405)):
        connection = http.client.HTTPConnection("127.0.0.1", watch.port, timeout=PATIENCE)
        connection.request(method, "/")
        assert connection.getresponse().status == status, method


def want_of_memory_ends_nothing(watch):
    with open(dfrost, "rb") as file:
        program = file.read()
    if b"__asan_init" in program or b"__tsan_init" in program:
        return  # they take terabytes of addresses
    viewer = Viewer(watch.port)
    viewer.wait_for([1, 2])
    resource.prlimit(watch.process.pid, resource.RLIMIT_AS, (memory_of(watch, "VmSize") + (24 << 20),) * 2)
    write("metrics.jsonl", '{"round":3,"x":"' + "y" * (50 << 20), "a")
    assert watch.get("/favicon.ico")[0] == 204
    time.sleep(1)  # it has looked at it by now, and if it has not, no harm is done
    assert watch.process.poll() is None
    with open(os.path.join(run, "metrics.jsonl"), "rb+") as file:
        file.truncate(0)
    add_round(7)
    viewer = Viewer(watch.port)
    viewer.wait_for([7])


def only_this_machine_is_listened_to(watch):
    with open("/proc/net/tcp") as table:
        sockets = [line.split() for line in table]
    listening = [s[1] for s in sockets if s[3] == "0A" and s[1].endswith(":%04X" % watch.port)]
    assert listening == ["0100007F:%04X" % watch.port], listening


def a_taken_port_is_an_error(watch):
    second = subprocess.run([dfrost, "watch", run, "--port", str(watch.port)], capture_output=True, text=True,
                            timeout=PATIENCE)
    assert second.returncode == 4 and second.stdout == "", second
    assert f"error: port {watch.port} is in use" in second.stderr and "hint:" in second.stderr, second.stderr


def written():
    watch = Watch(run)
    the_run_is_followed(watch)
    viewers = many_viewers_see_the_same(watch)
    nothing_else_is_served(watch)
    nonsense_does_no_harm(watch)
    nobody_waits_for_those_who_drip(watch)
    nothing_large_is_taken(watch)
    only_this_machine_is_listened_to(watch)
    a_taken_port_is_an_error(watch)
    watch.stop()  # with all of them looking
    assert all(viewer.answer.read() is not None for viewer in viewers[:3]), "their streams ended well"
    again = Watch(run, watch.port)  # where their browsers will look for it
    returned = Viewer(again.port)
    returned.wait_for([1, 2])
    want_of_memory_ends_nothing(again)
    again.stop()


CONFIG = """
[run]
name = "live"
rounds = 8
[backbone]
path = "{data}/deit_tiny/deit_tiny_patch16_224.safetensors"
precision = "fp32"
image_size = 32
[data]
domains = [{{name = "notmnist", path = "{data}/notmnist"}}]
train_per_domain = 40
test_per_domain = 20
[partition]
clients_per_domain = 3
min_per_client = 4
[network]
topology = "full"
[train]
epochs = 1
[evaluate]
clients = 1
samples = 20
"""


def real():
    data = sys.argv[3]
    if not os.path.isdir(os.path.join(data, "deit_tiny")):
        print("SKIPPED: needs the real data in ../shared/data, absent here")
        sys.exit(77)
    config = os.path.join(folder.name, "live.toml")
    with open(config, "w") as file:
        file.write(CONFIG.format(data=data))
    command = [dfrost, "run", config, "--runs", os.path.dirname(run), "--quiet", "--resume", "--set", 'method.name="dfrost"']
    watch = Watch(run)
    viewer = Viewer(watch.port)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    viewer.wait_for_a_round()
    while not glob.glob(os.path.join(run, "checkpoints", "*.safetensors")):
        time.sleep(0.01)  # it comes right behind the record
    process.kill()
    process.wait()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    viewer.wait_for(list(range(1, 9)))
    assert process.wait(PATIENCE) == 0
    with open(os.path.join(run, "metrics.jsonl")) as file:
        assert viewer.document["runs"][0]["rounds"] == [json.loads(line) for line in file]
    late = Viewer(watch.port)  # after the run's end
    with open(os.path.join(run, "summary.json")) as file:
        summary = json.load(file)
    while late.document is None or late.document["runs"][0]["summary"] != summary:
        late.take_event()  # the server may have looked at the folder just before its last change
    with open(os.path.join(run, "merges.jsonl")) as file:
        assert late.document["runs"][0]["merges"] == [json.loads(line) for line in file]
    assert os.path.exists(os.path.join(run, "report.html"))
    watch.stop()
    about = late.document["runs"][0]["about"]
    resumed_after, = [resumption["after_round"] for resumption in about["resumed"]]
    assert 1 <= resumed_after < 8, resumed_after
    makes_the_same_again(about)
    makes_the_same_again({"command": f"dfrost run {run}-first/config.toml --runs {os.path.dirname(run)}",
                          "working_folder": "/"})


def makes_the_same_again(about):
    """What a page gives to be pasted into a shell, once the run is out of its way."""
    first = run + "-first"
    if os.path.exists(first):
        shutil.rmtree(run)
    else:
        os.rename(run, first)
    path = os.path.dirname(os.path.abspath(dfrost)) + os.pathsep + os.environ["PATH"]
    subprocess.run(["bash", "-c", about["command"]], cwd=about["working_folder"], env={**os.environ, "PATH": path},
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kept(folder):
        with open(os.path.join(folder, "metrics.jsonl")) as file:
            rounds = [{**json.loads(line), "seconds": None} for line in file]
        with open(os.path.join(folder, "adapter", "network.safetensors"), "rb") as file:
            return rounds, file.read()
    assert kept(run) == kept(first), about


{"written": written, "real": real}[what]()
