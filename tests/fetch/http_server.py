"""A web server on the loopback for the download tests: http_server.py PORT_FILE. Serves 200,000 fixed bytes under names that
say how it misbehaves, and lists its requests, a line each, under /log; the same over TLS on the port in PORT_FILE.secure,
with the certificate in PORT_FILE.certificate. Ends when its parent does."""

import hashlib
import os
import re
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes((i * i + 7 * i) % 251 for i in range(200_000))
log = []
cuts = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/log":
            return self.answer(200, "\n".join(log).encode())
        wanted = self.headers.get("Range", "")
        log.append(f"{self.path} {wanted}".strip())
        if self.path == "/missing":
            return self.answer(404, b"no such file, says this page")
        if self.path == "/stated":  # as large-file stores do: the checksum first, then a redirect
            return self.answer(302, b"", [("Location", "/good"),
                                          ("X-Linked-ETag", f'"{hashlib.sha256(CONTENT).hexdigest()}"')])
        if self.path == "/stated-wrong":
            return self.answer(302, b"", [("Location", "/good"), ("X-Linked-ETag", f'"{"0" * 64}"')])
        if self.path.startswith("/redirect/"):
            return self.answer(302, b"", [("Location", self.path.removeprefix("/redirect/"))])
        if self.path == "/to-one-who-states":
            return self.answer(302, b"", [("Location", "/stated-by-itself/data.bin")])
        content = CONTENT[::-1] if self.path == "/wrong" else CONTENT
        start = 0
        if (match := re.fullmatch(r"bytes=(\d+)-", wanted)) and self.path != "/no-range":
            start = int(match[1])
            if start >= len(content):
                return self.answer(416, b"", [("Content-Range", f"bytes */{len(content)}")])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        if self.path.startswith("/stated-by-itself"):
            self.send_header("X-Linked-ETag", f'"{hashlib.sha256(CONTENT).hexdigest()}"')
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path.startswith("/cut"):  # /cut/N: N answers break off
            cuts[self.path] = cuts.get(self.path, 0) + 1
            if cuts[self.path] <= int(self.path.rsplit("/", 1)[1]):
                self.wfile.write(body[:60_000])
                self.wfile.flush()
                self.close_connection = True
                self.connection.shutdown(2)
                return
        self.wfile.write(body)


def end_with_parent(parent):
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # clients that hang up in the middle are part of the tests


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def serve_securely(path):
    """With a key of its own that nobody trusts who is not told to."""
    certificate, key = path + ".certificate", path + ".key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure = Server(("127.0.0.1", 0), Handler)
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    write(path + ".secure", str(secure.server_port))
    secure.serve_forever()


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
threading.Thread(target=serve_securely, args=(sys.argv[1],), daemon=True).start()
write(sys.argv[1], str(server.server_port))
server.serve_forever()
