"""The page of a sweep's status: what the status says, whoever looks."""

import base64
import http.client
import json
import socket
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

import tidemill as tm
import tidemill.sweep
from tidemill.sweep import command
from tidemill.sweep.page import StatusPage, place_of


@contextmanager
def served(status):
    page = StatusPage(status, "127.0.0.1", 0)
    thread = threading.Thread(target=page.serve)
    thread.start()
    try:
        yield page.url
    finally:
        page.shutdown()
        thread.join()


def got(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.headers, answer.read()


@pytest.fixture
def state(tmp_path):
    chains = {"tasks": 5, "cores": [{"big": 2, "little": 2}]}
    tm.sweep.run({"count": "strategies", "strategies": chains, "until": {"chains": 4}}, workers=1, state=tmp_path / "it.sweep")
    return tmp_path / "it.sweep"


def test_the_page_says_what_the_status_says(state):
    with served(lambda: tm.sweep.status(state)) as url:
        headers, page = got(url)
        assert headers["Content-Type"] == "text/html; charset=utf-8" and b"status.json" in page
        told = json.loads(got(url + "status.json")[1])
        assert told == json.loads(json.dumps(tm.sweep.status(state)))
        assert (told["points_done"], told["rows"][0]["chains"]) == (1, 4) and told["ranges_done"] > 0
        with pytest.raises(urllib.error.HTTPError, match="404"):
            got(url + "../../etc/passwd")


def test_a_state_that_goes_away_is_told_and_the_page_goes_on(state):
    with served(lambda: tm.sweep.status(state)) as url:
        (state / "state.json").rename(state / "aside")
        with pytest.raises(urllib.error.HTTPError, match="503") as refused:
            got(url + "status.json")
        assert "there is no sweep's state" in json.loads(refused.value.read())["error"]
        (state / "aside").rename(state / "state.json")
        assert json.loads(got(url + "status.json")[1])["count"] == "strategies"


def test_it_listens_on_this_machine_unless_an_address_is_told():
    assert place_of("8080") == ("127.0.0.1", 8080) and place_of("0.0.0.0:80") == ("0.0.0.0", 80)
    for text in ("", "x", "1.2.3.4:", "70000", "-1"):
        with pytest.raises(tm.WrongUsage, match="give a port from 0 to 65535"):
            place_of(text)


def test_places_that_cannot_be_had_and_words_without_sense_are_told(state, tmp_path, capsys, monkeypatch):
    assert command.main(["--status", str(state), "--page", "192.0.2.1:0"]) == 2
    assert "TIDEMILL_PAGE_PASSWORD" in capsys.readouterr().err
    monkeypatch.setenv("TIDEMILL_PAGE_PASSWORD", "sesame")
    assert command.main(["--status", str(state), "--page", "192.0.2.1:0"]) == 1
    assert "the page cannot listen at 192.0.2.1:0" in capsys.readouterr().err
    assert command.main(["--status", str(tmp_path / "none"), "--page", "0"]) == 3
    assert command.main(["ber.toml", "--page", "0"]) == 2
    assert "alone with --page PORT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (["localhost"], 200),
        (["127.0.0.1:80"], 200),
        (["[::1]:80"], 200),
        (["192.0.2.7"], 200),
        (["evil.example"], 403),
        (["evil.example:80"], 403),
        (["localhost.evil.example"], 403),
        ([""], 403),
        ([], 403),
        (["[x"], 403),
        (["localhost", "evil.example"], 403),
    ],
)
def test_the_page_is_shown_under_this_hosts_names_alone(hosts, status):
    with served(dict) as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://").removesuffix("/"), timeout=10)
        connection.putrequest("GET", "/status.json", skip_host=True)
        for each in hosts:
            connection.putheader("Host", each)
        connection.endheaders()
        assert connection.getresponse().status == status
        connection.close()


def test_others_than_this_machine_need_a_password(monkeypatch):
    monkeypatch.delenv("TIDEMILL_PAGE_PASSWORD", raising=False)
    for address in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(tm.WrongUsage, match="TIDEMILL_PAGE_PASSWORD"):
            StatusPage(dict, address, 0)
    monkeypatch.setenv("TIDEMILL_PAGE_PASSWORD", "correct horse")

    def asked(url, authorization):
        request = urllib.request.Request(url, headers=authorization)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def basic(text):
        return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}

    with served(dict) as url:
        assert asked(url, basic("anybody:correct horse")) == 200
        assert [asked(url, {}) for _ in range(6)] == [401] * 6
        for wrong in (basic("a:b"), basic("correct horse"), {"Authorization": "Basic !"}, {"Authorization": "Bearer x"}, basic("")):
            assert asked(url, wrong) == 401
        assert asked(url, basic("anybody:correct horse")) == 429


def test_who_goes_away_in_the_middle_of_an_answer_is_not_told(capfd):
    with served(dict) as url:
        host, port = url.removeprefix("http://").removesuffix("/").split(":")
        for _ in range(20):
            with socket.create_connection((host, int(port))) as peer:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
    assert capfd.readouterr().err == ""
