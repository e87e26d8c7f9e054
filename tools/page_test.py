#!/usr/bin/env python3
"""Looks at the page of a running reception with headless Chromium.

usage: page_test.py PROGRAM RECORDING PICTURE

The recording (ci8) is received through a named pipe that stays open at its end, so that the values stand still. What
the page shows must be what /status says, the browser's console must be silent, and a place whose name is markup must
be shown as text. Exit status 77: there is no Chromium.
"""
import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


class Reception:
    """`tidemill dvbs2 rx PIPE --page auto`, fed with a recording."""

    def __init__(self, program, recording, pipe, rate):
        os.mkfifo(pipe)
        self.process = subprocess.Popen(
            [program, "dvbs2", "rx", pipe, "--format", "ci8", "--rate", str(rate), "-o", "/dev/null", "--page", "auto"],
            stderr=subprocess.PIPE, text=True)
        self.writer = open(pipe, "wb")
        with open(recording, "rb") as samples:
            shutil.copyfileobj(samples, self.writer)
        self.writer.flush()
        self.url = None
        for line in self.process.stderr:
            if found := re.search(r"http://\S+", line):
                self.url = found.group()
                break
        if not self.url:
            sys.exit("the receiver did not tell where its page is")

    def status(self):
        with urllib.request.urlopen(self.url + "status", timeout=5) as answer:
            return json.loads(answer.read() or "{}")

    def settled_status(self):
        """Once nothing is left to be received."""
        before, now = None, self.status()
        for _ in range(60):
            if now == before or (before and now.get("ts_packets") == before.get("ts_packets") and now["frames"] == 0):
                if now.get("ts_packets"):
                    return now
            time.sleep(0.6)
            before, now = now, self.status()
        sys.exit(f"the reception does not come to rest: {now}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.writer.close()
        self.process.communicate(timeout=20)
        return self.process.returncode


class Browser:
    """Headless Chromium, told by its driver what to do (WebDriver, W3C)."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.base = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.base.rsplit(':', 1)[1]}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1250"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        for _ in range(100):
            try:
                made = self.ask("session", {"capabilities": {"alwaysMatch": wanted}})
                break
            except ConnectionError:
                time.sleep(0.1)
            except urllib.error.URLError:
                time.sleep(0.1)
        self.session = f"/{made['sessionId']}"

    def ask(self, what, body=None):
        path = "/session" if what == "session" else f"/session{self.session}/{what}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())["value"]

    def look(self, url):
        """What the page shows after a few events."""
        self.ask("url", {"url": url})
        time.sleep(3)
        spoken = self.ask("se/log", {"type": "browser"})
        if spoken:
            sys.exit(f"the browser's console is not silent: {spoken}")
        return self.ask("source")

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("screenshot")))

    def end(self):
        request = urllib.request.Request(f"{self.base}/session{self.session}", method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()
        self.driver.terminate()
        self.driver.wait()


def shown(dom, name):
    found = re.search(rf'<(?:dd|p|span) id="{name}"[^>]*>(.*?)</', dom)
    return found.group(1) if found else None


def check(what, page, told):
    if page != told:
        sys.exit(f"{what}: the page shows {page!r}, the receiver says {told!r}")
    print(f"{what:<12} {page}")


def main(program, recording, picture):
    if not shutil.which("chromedriver"):
        print("skipped: there is no Chromium with its driver (Debian's packages chromium and chromium-driver)")
        return 77
    folder = tempfile.mkdtemp()
    # Markup as far as it can be a file's name.
    pipe = os.path.join(folder, "<img src=x onerror=alert(1)>")
    reception = Reception(program, recording, pipe, 500e3)
    browser = Browser()
    try:
        status = reception.settled_status()
        dom = browser.look(reception.url)
        check("MODCOD", shown(dom, "modcod"), f"{status['modcod']} {status['frame']}, pilots")
        check("Es/N0", shown(dom, "esn0"), f"{status['esn0_db']:.2f} dB")
        check("margin", shown(dom, "margin"), f"{status['margin_db']:+.2f} dB")
        check("carrier", shown(dom, "offset"), f"{status['offset_hz']:+.0f} Hz")
        check("packets", shown(dom, "packets"), str(status["ts_packets"]))
        check("programmes", shown(dom, "programmes"), ", ".join(map(str, status["programmes"])))
        check("lock", shown(dom, "lock"), "locked")
        check("name", shown(dom, "source"), pipe.replace("<", "&lt;").replace(">", "&gt;"))
        if "<img" in dom:
            sys.exit("a name has become markup")
        os.makedirs(os.path.dirname(picture), exist_ok=True)
        browser.picture(picture)
        print(f"{'picture':<12} {picture}")
    finally:
        browser.end()
        ended = reception.end()
        shutil.rmtree(folder)
    if ended != 0:
        sys.exit(f"the receiver ended with {ended}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
