#!/usr/bin/env python3
"""Looks at the page of a running reception with headless Chromium.

usage: page_test.py PROGRAM RECORDING PICTURE

The recording (ci8) is received through a named pipe that stays open at its end, so that the values stand still. What
the page shows must be what /status says, the browser's console must be silent, and names that are markup or command a
terminal must be shown as text: that of a place, and those of services. Exit status 77: there is no Chromium.
"""
import array
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
import threading
import time
import urllib.error
import urllib.request


class Reception:
    """`tidemill dvbs2 rx PIPE --page auto`, fed with a recording."""

    def __init__(self, program, recording, pipe, rate, *more, output="/dev/null"):
        os.mkfifo(pipe)
        self.process = subprocess.Popen(
            [program, "dvbs2", "rx", pipe, "--format", "ci8", "--rate", str(rate), "-o", output, *more, "--page"],
            stderr=subprocess.PIPE, text=True)
        self.url = None
        for line in self.process.stderr:  # before the first sample
            if found := re.search(r"http://\S+", line):
                self.url = found.group()
                break
        self.writer = open(pipe, "wb")
        with open(recording, "rb") as samples:
            shutil.copyfileobj(samples, self.writer)
        self.writer.flush()
        if not self.url:
            sys.exit("the receiver did not tell where its page is")

    def text(self, what):
        with urllib.request.urlopen(self.url.split("#")[0] + what, timeout=5) as answer:
            return answer.read().decode()

    def status(self):
        return json.loads(self.text("status") or "{}")

    def settled_status(self):
        """Once nothing is left to be received, and the standstill has been noticed."""
        before, now = None, self.status()
        for _ in range(60):
            if now == before or (before and now.get("ts_packets") == before.get("ts_packets") and now.get("frames") == 0):
                if now.get("ts_packets") and not now["lock"]:
                    return now
            time.sleep(0.6)
            before, now = now, self.status()
        sys.exit(f"the reception does not come to rest: {now}")

    def settled_carriers(self):
        """The same, of several."""
        before = None
        for _ in range(60):
            now = self.status().get("carriers", [])
            packets = [carrier.get("ts_packets") for carrier in now]
            if now and all(packets) and packets == before:
                return now
            time.sleep(1.2)
            before = packets
        sys.exit(f"the carriers do not come to rest: {before}")

    def end(self):
        self.end_with_text()
        return self.process.returncode

    def end_with_text(self):
        self.process.send_signal(signal.SIGINT)
        self.writer.close()
        out, said = self.process.communicate(timeout=20)
        return said + (out or "")


class Dongle:
    """A server of rtl_tcp's protocol that plays a recording (ci8), again and again at its own pace."""

    def __init__(self, recording, rate):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.place = f"rtl_tcp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.commands = b""
        self.ends = False
        with open(recording, "rb") as file:
            self.samples = file.read().translate(bytes(i ^ 0x80 for i in range(256)))
        self.bytes_a_second = 2 * rate
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        peer, _ = self.socket.accept()
        peer.sendall(b"RTL0\0\0\0\5\0\0\0\35")
        listener = threading.Thread(target=self.listen, args=(peer,))
        listener.start()
        start, at = time.monotonic(), 0
        try:
            while not self.ends:
                due = int((time.monotonic() - start) * self.bytes_a_second) // 2 * 2
                while at < due:
                    first = at % len(self.samples)
                    piece = self.samples[first:first + due - at]
                    peer.sendall(piece)
                    at += len(piece)
                time.sleep(0.01)
        except OSError:
            pass  # the receiver has gone
        peer.close()
        listener.join()

    def listen(self, peer):
        try:
            while some := peer.recv(100):
                self.commands += some
        except OSError:
            pass

    def gains(self):
        """In dB, as the radio was told."""
        words = [self.commands[i:i + 5] for i in range(0, len(self.commands), 5)]
        return [int.from_bytes(word[1:], "big") / 10 for word in words if word[0] == 4]

    def end(self):
        self.ends = True
        self.thread.join()
        self.socket.close()


class Browser:
    """Headless Chromium, told by its driver what to do (WebDriver, W3C)."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.base = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.base.rsplit(':', 1)[1]}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1800"]}
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

    def look(self, url, may_complain=False):
        """What the page shows after a few events."""
        self.ask("url", {"url": url})
        time.sleep(3)
        spoken = self.ask("se/log", {"type": "browser"})
        if spoken and not may_complain:
            sys.exit(f"the browser's console is not silent: {spoken}")
        return self.ask("source")

    def press(self, button, answer):
        """What stands in `answer` after the button was pressed."""
        script = ("const done = arguments[arguments.length - 1]; document.getElementById(arguments[0]).click();"
                  "setTimeout(() => done(document.getElementById(arguments[1]).textContent), 1000);")
        return self.ask("execute/async", {"script": script, "args": [button, answer]})

    def run(self, script, seconds):
        """What the page is after a script, and a while."""
        self.ask("execute/sync", {"script": script, "args": []})
        time.sleep(seconds)
        return self.ask("source")

    def leave(self):
        """Before the receiver ends, of which the page would complain."""
        self.ask("url", {"url": "about:blank"})

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


# EN 300 468, 5.2.3, and ISO/IEC 13818-1, annex A.
def crc32(section):
    crc = 0xFFFFFFFF
    for byte in section:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    return crc.to_bytes(4, "big")


def packet(pid, section, count):
    length = len(section) - 3 + 4
    section[1:3] = (0xB000 | length).to_bytes(2, "big")
    whole = bytes([0]) + bytes(section) + crc32(bytes(section))
    return (bytes([0x47, 0x40 | pid >> 8, pid & 255, 0x10 | count & 15]) + whole).ljust(188, b"\xff")


def hostile_stream(path, names):
    """A transport stream whose services have these names, and nothing but that."""
    table = bytearray([0, 0, 0, 0, 1, 0xC1, 0, 0])
    services = bytearray([0x42, 0, 0, 0, 1, 0xC1, 0, 0, 0, 1, 0xFF])
    maps = []
    for number, name in enumerate(names, 1):
        table += bytes([0, number, 0xE1, number])
        descriptor = bytes([0x48, len(name) + 3, 1, 0, len(name)]) + name
        services += bytes([0, number, 0xFC, 0x80, len(descriptor)]) + descriptor
        maps.append((0x100 + number, bytearray([2, 0, 0, 0, number, 0xC1, 0, 0, 0xE1, number, 0xF0, 0])))
    with open(path, "wb") as stream:
        for count in range(400):
            stream.write(packet(0, bytearray(table), count) + packet(0x11, bytearray(services), count))
            for pid, section in maps:
                stream.write(packet(pid, bytearray(section), count))


def receive_demo(program, recording, folder, browser, picture):
    """What the page shows of it is what the receiver says."""
    pipe = os.path.join(folder, "demo.ci8")
    report = os.path.join(folder, "run.html")
    reception = Reception(program, recording, pipe, 500e3, "--report", report, "--page-dir", folder)
    try:
        status = reception.settled_status()
        dom = browser.look(reception.url)
        check("MODCOD", shown(dom, "modcod"), f"{status['modcod']} {status['frame']}, pilots")
        check("Es/N0", shown(dom, "esn0"), f"{status['esn0_db']:.2f} dB")
        check("margin", shown(dom, "margin"), f"{status['margin_db']:+.2f} dB")
        check("carrier", shown(dom, "offset"), f"{status['offset_hz']:+.0f} Hz")
        check("packets", shown(dom, "packets"), str(status["ts_packets"]))
        check("programmes", shown(dom, "programmes"), ", ".join(map(str, status["programmes"])))
        # Nothing comes any more, and a reception without samples has no lock.
        check("lock", shown(dom, "lock"), "no signal any more")
        check("name", shown(dom, "source"), pipe)
        browser.picture(picture)
        print(f"{'picture':<12} {picture}")
        check("IQ button", browser.press("save", "answer").split(" as ")[0], "saving 2 s")
        browser.leave()
    finally:
        ended = reception.end()
    if ended != 0:
        sys.exit(f"the receiver ended with {ended}")
    with open(report, encoding="utf-8") as file:
        if re.search(r'(src|href)="(?!udp:)[^#"]', file.read().split('id="recorded"')[0]):
            sys.exit("the report loads something")
    dom = browser.look(f"file://{report}")
    check("report", shown(dom, "modcod"), f"{status['modcod']} {status['frame']}, pilots")
    # The end of the samples completes the last frame.
    check("bad of all", shown(dom, "bad"), f"0 of {sum(status['modcods'].values()) + 1}")
    browser.picture(picture.replace(".png", "_report.png"))
    look_at_spoiled(report, status, browser)


def look_at_spoiled(report, status, browser):
    """One view that is missing, or an empty row, takes no other view with it."""
    with open(report, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r'"waterfall":\[\[[^\]]*\]', '"waterfall":[[]', text.replace('"eye":', '"gone":'))
    text = text.replace('"turned":', '"lost":').replace('"spectrum_db":[', '"spectrum_db":null,"was":[', 1)
    spoiled = report.replace(".html", "_spoiled.html")
    with open(spoiled, "w", encoding="utf-8") as file:
        file.write(text)
    dom = browser.look(f"file://{spoiled}", may_complain=True)
    check("spoiled", shown(dom, "modcod"), f"{status['modcod']} {status['frame']}, pilots")
    check("heading", shown(dom, "lock").split(":")[0], "the whole run")
    check("services", str("<tr><td" in dom.split('id="services"')[1].split("</tbody>")[0]), str(bool(status["services"])))


NAMES = [b"<img src=x onerror=alert(1)>", b"\x15\x1b[31mred\x1b[0m", b'"};alert(1)//', b"</script><b>"]


def receive_hostile(program, folder, browser, picture):
    """Services with hostile names are text on the page, in JSON, in Prometheus, in the terminal and in the report."""
    stream, samples = os.path.join(folder, "hostile.ts"), os.path.join(folder, "hostile.ci8")
    hostile_stream(stream, NAMES)
    subprocess.run([program, "dvbs2", "tx", stream, "-o", samples, "--format", "ci8", "--symbol-rate", "250e3",
                    "--frame", "short"], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    report = os.path.join(folder, "hostile.html")
    # Markup as far as it can be a file's name.
    pipe = os.path.join(folder, "<img src=x onerror=alert(1)>")
    reception = Reception(program, samples, pipe, 500e3, "--report", report)
    try:
        status = reception.settled_status()
        names = [service["name"] for service in status["services"]]
        expected = [name.lstrip(b"\x15").decode() for name in NAMES]
        if names != expected:
            sys.exit(f"the services' names are {names}")
        metrics = reception.text("metrics")
        if "\x1b" in metrics or r'name="\\x1b[31mred' not in metrics or r'name="\"};alert' not in metrics:
            sys.exit(f"Prometheus is told control characters: {metrics[-700:]}")
        dom = browser.look(reception.url)
        check("name", shown(dom, "source"), pipe.replace("<", "&lt;").replace(">", "&gt;"))
        if "<img src=x" in dom or "<b>" in dom or "&lt;img src=x onerror=alert(1)&gt;" not in dom:
            sys.exit("a service's name has become markup")
        if "\x1b" in dom or r"\x1b[31mred" not in dom:
            sys.exit("a control character is not shown as such")
        browser.picture(picture)
        browser.leave()
    finally:
        said = reception.end_with_text()
    if "\x1b" in said:
        sys.exit("the terminal is told control characters")
    dom = browser.look(f"file://{report}")
    if "<img src=x" in dom or "&lt;img src=x onerror=alert(1)&gt;" not in dom:
        sys.exit("a service's name has become markup in the report")
    print(f"{'hostile':<12} {len(NAMES)} names are text")


def receive_radio(program, recording, folder, browser, picture):
    """The gain of a radio is a slider, and the journal tells of it."""
    dongle = Dongle(recording, 500e3)
    journal = os.path.join(folder, "journal")
    receiver = subprocess.Popen(
        [program, "dvbs2", "rx", dongle.place, "--freq", "741.5M", "--rate", "500k", "--symbol-rate", "250k", "--gain", "20",
         "-o", "/dev/null", "--journal", journal, "--page"], stderr=subprocess.PIPE, text=True)
    try:
        url = next(found.group() for line in receiver.stderr if (found := re.search(r"http://\S+", line)))
        browser.look(url)
        dom = browser.run("const slider = document.getElementsByName('source.gain_db')[0]; slider.value = 31.5;"
                          "slider.dispatchEvent(new Event('change'));", 2)
        check("slider", shown(dom, "answer").split(" from")[0], "source.gain_db is 31.5")
        value = re.search(r'name="source\.gain_db"[^>]*><output[^>]*>([^<]*)<', dom)
        check("value", value.group(1) if value else None, "31.5")
        check("gains", str(dongle.gains()), "[20.0, 31.5]")
        browser.picture(picture)
        browser.leave()
    finally:
        receiver.send_signal(signal.SIGINT)
        receiver.communicate(timeout=20)
        dongle.end()
    with open(journal, encoding="utf-8") as file:
        if "31.5" not in file.read():
            sys.exit("the journal does not tell of the gain")


def make_band(program, folder):
    """Two carriers side by side in 1 MS/s: 6 s of ci8, more than a look at a band takes."""
    sums = None
    for name, modcod, offset in (("one", "QPSK 3/4", -250e3), ("two", "QPSK 1/2", 200e3)):
        sent, moved = os.path.join(folder, name + ".cf32"), os.path.join(folder, name + "_moved.cf32")
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([program, "dvbs2", "tx", "--random", "3000", "-o", sent, "--symbol-rate", "200e3", "--frame",
                        "short", "--pilots", "--rate", "1e6", "--modcod", modcod, "--duration", "6"], **quiet)
        subprocess.run([program, "dvbs2", "channel", sent, "--rate", "1e6", "--symbol-rate", "200e3", "--cfo",
                        str(offset), "--esn0", "14", "-o", moved], **quiet)
        samples = array.array("f")
        with open(moved, "rb") as file:
            samples.frombytes(file.read())
        sums = samples if sums is None else array.array("f", map(lambda a, b: a + b, sums, samples))
    path = os.path.join(folder, "band.ci8")
    most = max(map(abs, sums))
    with open(path, "wb") as file:
        file.write(array.array("b", (round(100 * value / most) for value in sums)).tobytes())
    return path


def receive_band(program, folder, browser, picture):
    """Several carriers at once: each can be looked at, and all stand in the band's spectrum."""
    report = os.path.join(folder, "band.html")
    reception = Reception(program, make_band(program, folder), os.path.join(folder, "band.fifo"), 1e6, "--carrier",
                          "all", "--report", report, output=os.path.join(folder, "band.ts"))
    try:
        carriers = reception.settled_carriers()
        dom = browser.look(reception.url)
        check("carriers", str(len(re.findall(r"<button[^>]*>carrier ", dom))), str(len(carriers)))
        check("first", shown(dom, "packets"), str(carriers[0]["ts_packets"]))
        if re.search(r'<figure[^>]*id="band-figure"[^>]*hidden', dom):
            sys.exit("the band's spectrum is not shown")
        check("span", shown(dom, "band-span"), "1000.0 kHz wide")
        dom = browser.run("document.querySelectorAll('#carriers button')[1].click()", 2)
        check("second", shown(dom, "packets"), str(carriers[1]["ts_packets"]))
        check("MODCOD", shown(dom, "modcod"), f"{carriers[1]['modcod']} short, pilots")
        browser.picture(picture)
        metrics = reception.text("metrics")
        if 'tidemill_rx_ts_packets_total{carrier="2"}' not in metrics:
            sys.exit(f"Prometheus is not told of carrier 2: {metrics[:400]}")
        browser.leave()
    finally:
        ended = reception.end()
    if ended != 0:
        sys.exit(f"the receiver of a band ended with {ended}")
    browser.look(f"file://{report}")
    dom = browser.run("document.querySelectorAll('#carriers button')[1].click()", 1)
    check("report", shown(dom, "modcod"), f"{carriers[1]['modcod']} short, pilots")


def main(program, recording, picture):
    if not shutil.which("chromedriver"):
        print("skipped: there is no Chromium with its driver (Debian's packages chromium and chromium-driver)")
        return 77
    folder = tempfile.mkdtemp()
    os.makedirs(os.path.dirname(picture), exist_ok=True)
    browser = Browser()
    try:
        receive_demo(program, recording, folder, browser, picture)
        receive_radio(program, recording, folder, browser, picture.replace(".png", "_radio.png"))
        receive_band(program, folder, browser, picture.replace(".png", "_band.png"))
        receive_hostile(program, folder, browser, picture.replace(".png", "_hostile.png"))
    finally:
        browser.end()
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
