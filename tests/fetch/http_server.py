"""A web server on the loopback for the download tests: http_server.py PORT_FILE. Serves 200,000 fixed bytes under names that
say how it misbehaves, and lists its requests, a line each, under /log. Ends when its parent does."""

import hashlib
import os
import re
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


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
