"""Pages in Debian's chromium, without a window and without a network: each is opened and examined by a script."""

import html
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CHROMIUM = shutil.which("chromium")
WIDTHS = (1300, 390)  # of a desktop's window and of a phone's

needs_chromium = unittest.skipUnless(CHROMIUM, "no chromium here; packages.txt names it under [test]")

# Opens the pages one after the other, each in a frame, and writes down what the visitors in them report.
AROUND = """<!DOCTYPE html><meta charset="utf-8"><title>around</title>
<pre id="found"></pre>
<script>
const visits = %s;
const found = [];
function next() {
  document.querySelector("iframe")?.remove();
  document.getElementById("found").textContent = JSON.stringify(found);
  if (found.length === visits.length) return;
  const [page, width] = visits[found.length];
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  frame.src = page;
  document.body.append(frame);
}
addEventListener("message", event => {
  const [page, width] = visits[found.length];
  found.push({page, width, ...event.data});
  next();
});
next();
</script>
"""


def visit(folder, pages, *flags):
    """What the visitors found, page by page at each of the widths, and what the browser's console says.

    The pages of the folder have a script that posts one message to the window around them (visited).
    """
    visits = [(page, width) for page in pages for width in WIDTHS]
    folder = pathlib.Path(folder)
    (folder / "around.html").write_text(AROUND % json.dumps(visits), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="ngf-test-") as profile:
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   f"--user-data-dir={profile}", "--window-size=1400,1000",
                   "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
                   f"--virtual-time-budget={20000 + 1000 * len(visits)}", *flags, "--dump-dom",
                   (folder / "around.html").as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=240, text=True, errors="replace")
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    found = json.loads(html.unescape(text[1])) if text and text[1] else []
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if len(found) != len(visits):
        raise RuntimeError(f"{len(found)} of {len(visits)} visitors came back; the console says {console}")
    return found, console


def visited(page, visitor):
    """A page with the script that visits it."""
    return page.replace("</body>", f"<script>{visitor}</script></body>")
