#!/usr/bin/env python3
"""One sender of VITA-49 packets, two receivers in network namespaces of their own, each tuned to its carrier; between
them a network that loses 1 % of the packets and reorders others (./x test-hosts). Exit code 77: skipped."""

import array
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUP, PORT, RELAY_PORT = "239.255.49.1", 5000, 4991
CARRIERS = {"lower": "-120k", "upper": "120k"}
SAMPLES_PER_PACKET = 360
PACKET_BYTES = 188


def relay(interface_address, told):
    """Passes datagrams on to the group until it is interrupted; writes how many data packets were lost."""
    come = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    come.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    come.bind(("127.0.0.1", RELAY_PORT))
    go = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    go.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface_address))
    luck, kept, seen, lost = random.Random(20), None, 0, 0
    signal.signal(signal.SIGTERM, lambda *_: (Path(told).write_text(str(lost)), os._exit(0)))
    while True:
        datagram = come.recv(65536)
        is_data = datagram[0] >> 4 == 1
        fate = luck.randrange(100) if is_data and seen else 99
        seen += is_data
        if fate == 0:
            lost += 1
        elif fate <= 10 and kept is None:
            kept = datagram
        else:
            for one in (datagram, kept):
                if one:
                    go.sendto(one, (GROUP, PORT))
            kept = None


def ip(*words):
    subprocess.run(["ip", *words], check=True, stderr=subprocess.PIPE)


def make_network(air, hosts):
    """A bridge in the sender's namespace, and a link to each receiver's."""
    for name in (air, *hosts):
        ip("netns", "add", name)
        ip("-n", name, "link", "set", "lo", "up")
    ip("-n", air, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
    ip("-n", air, "address", "add", "10.77.8.1/24", "dev", "br0")
    ip("-n", air, "link", "set", "br0", "up")
    for number, host in enumerate(hosts):
        ip("-n", air, "link", "add", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", host)
        ip("-n", air, "link", "set", f"to{number}", "master", "br0", "up")
        ip("-n", host, "address", "add", f"10.77.8.{2 + number}/24", "dev", "eth0")
        ip("-n", host, "link", "set", "eth0", "up")


def make_band(tidemill, folder):
    """Two carriers of 100 kBd in 500 kS/s, and what each sent."""
    sums = None
    for seed, (name, offset) in enumerate(CARRIERS.items(), 1):
        clean, moved = folder / f"{name}_clean.cf32", folder / f"{name}.cf32"
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([tidemill, "dvbs2", "tx", "--random", "1000", "--seed", str(seed), "-o", clean, "--modcod", "QPSK 1/2",
                        "--frame", "short", "--pilots", "--symbol-rate", "100k", "--packets-output", folder / f"{name}.ts"],
                       **quiet)
        subprocess.run([tidemill, "dvbs2", "channel", clean, "-o", moved, "--rate", "200k", "--rate-ratio", "2.5", "--cfo", offset,
                        "--symbol-rate", "100k", "--esn0", "12"], **quiet)
        numbers = array.array("f", moved.read_bytes())
        sums = numbers if sums is None else array.array("f", map(float.__add__, sums, numbers))
    (folder / "both.cf32").write_bytes(sums.tobytes())


def packets_in_order(got, sent):
    """How many packets came; each was sent, and in this order."""
    cut = [sent[at:at + PACKET_BYTES] for at in range(0, len(sent), PACKET_BYTES)]
    places, last = {packet: place for place, packet in enumerate(cut)}, -1
    for at in range(0, len(got), PACKET_BYTES):
        place = places.get(got[at:at + PACKET_BYTES])
        assert place is not None, f"a wrong packet at byte {at}"
        assert place > last, f"a packet in another order at byte {at}"
        last = place
    return len(got) // PACKET_BYTES


def inside(host, *words, **more):
    return subprocess.Popen(["ip", "netns", "exec", host, *map(str, words)], stderr=subprocess.DEVNULL, **more)


def wait_for_listener(host):
    for _ in range(600):
        seen = subprocess.run(["ip", "netns", "exec", host, "cat", "/proc/net/udp"], capture_output=True, text=True, check=True)
        if f":{PORT:04X} " in seen.stdout:
            return
        time.sleep(0.05)
    raise AssertionError("no receiver listens")


def try_it(tidemill, folder, air, hosts):
    receivers = {}
    for (name, offset), host in zip(CARRIERS.items(), hosts):
        receivers[name] = inside(host, tidemill, "dvbs2", "rx", f"vita49://{GROUP}:{PORT}?interface=eth0", "--offset", offset,
                                 "--symbol-rate", "100k", "--json", "-o", folder / f"{name}_got.ts", stdout=subprocess.PIPE)
        wait_for_listener(host)
    told = folder / "lost"
    network = inside(air, sys.executable, __file__, "--relay", "10.77.8.1", told)
    subprocess.run(["ip", "netns", "exec", air, tidemill, "dvbs2", "channel", folder / "both.cf32", "--rate", "500k", "-o",
                    f"vita49://127.0.0.1:{RELAY_PORT}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    network.terminate()
    network.wait()
    lost = int(told.read_text())
    for name, receiver in receivers.items():
        receiver.send_signal(signal.SIGINT)
        losses = json.loads(receiver.communicate(timeout=60)[0])["losses"]
        sent = (folder / f"{name}.ts").read_bytes()
        came = packets_in_order((folder / f"{name}_got.ts").read_bytes(), sent)
        print(f"{name}: {lost} packets of samples lost, {losses['overflows']} gaps of {losses['samples_missing']} samples counted, "
              f"{came} of {len(sent) // PACKET_BYTES} transport packets came, none wrong")
        # Behind the last packet that came, nobody knows of any.
        assert losses["samples_missing"] >= (lost - 2) * SAMPLES_PER_PACKET
        assert came > len(sent) // PACKET_BYTES // 2


def main():
    if sys.argv[1] == "--relay":
        relay(*sys.argv[2:])
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("skipped: network namespaces need root and ip (iproute2)")
        return 77
    air, hosts = f"tidemill-air-{os.getpid()}", [f"tidemill-rx{number}-{os.getpid()}" for number in (1, 2)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            make_network(air, hosts)
            make_band(sys.argv[1], Path(folder))
            try_it(sys.argv[1], Path(folder), air, hosts)
        except subprocess.CalledProcessError as error:
            if error.cmd[0] != "ip" or "netns" in error.cmd[:2] and "exec" in error.cmd:
                raise
            print(f"skipped: {' '.join(map(str, error.cmd))}: {(error.stderr or b'').decode().strip()}")
            return 77
        finally:
            for name in (air, *hosts):
                subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
