"""A web server with bad habits, for the tests of downloads.

    fetch_server.py FOLDER

It serves the files of FOLDER, and the first part of a path says how:

    /plain/F     well, ranges included
    /norange/F   always the whole file, as servers do that know no ranges
    /cut/F       breaks off half-way, the first time that F is asked for
    /short/F     ends half-way without having promised a length
    /wrong/F     with one byte changed
    /long/F      with bytes too many
    /empty/F     as if the file had shrunk: any range is past its end
    /moved/F     by a redirect to /plain/F
    /loop/F      by a redirect to itself
    /away/F      by a redirect to ftp

Anything else is 404. The port goes to stdout; each request becomes a line "PATH RANGE" of
FOLDER/requests. It ends when stdin does.
"""

import http.server
import os
import re
import sys
import threading

folder = sys.argv[1]
already_cut = set()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def redirect(self, location):
        self.send_response(302)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        requested = self.headers.get("Range")
        with open(os.path.join(folder, "requests"), "a") as log:
            log.write(f"{self.path} {requested or '-'}\n")
        _, habit, name = (self.path + "/").split("/", 2)
        name = name.rstrip("/")
        path = os.path.join(folder, os.path.basename(name))
        if habit == "moved":
            return self.redirect(f"/plain/{name}")
        if habit == "loop":
            return self.redirect(self.path)
        if habit == "away":
            return self.redirect(f"ftp://127.0.0.1/{name}")
        if habit == "empty":
            return self.send_error(416)
        habits = ("plain", "norange", "cut", "short", "wrong", "long")
        if habit not in habits or not os.path.isfile(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            content = file.read()
        if habit == "wrong":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if habit == "long":
            content += b"more"
        begin = 0
        match = re.fullmatch(r"bytes=(\d+)-", requested or "")
        if match and habit != "norange":
            begin = int(match.group(1))
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        content = content[begin:]
        if habit != "short":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if habit == "short" or (habit == "cut" and name not in already_cut):
            already_cut.add(name)
            content = content[: len(content) // 2]
        try:
            self.wfile.write(content)
        except OSError:
            pass  # a client that hangs up is part of the game


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
