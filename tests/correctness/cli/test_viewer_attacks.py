"""The viewer before a client that means it ill: ranges, headers of every kind, two hosts, half of a request."""

import json
import pathlib
import random
import select
import socket
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import PASSED, Kernelwright  # noqa: E402
from planted_run import plant  # noqa: E402

NAMES = ["Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect",
         "Forwarded", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "Keep-Alive", "LOCAL_ADDR", "Origin", "Pragma", "Range", "Referer", "REMOTE_ADDR", "TE", "Trailer",
         "Transfer-Encoding", "Upgrade", "User-Agent", "Via", "X-Forwarded-For", "X-HTTP-Method-Override", "x"]
VALUES = ["", "0", "-1", "1", "4096", "18446744073709551616", "9223372036854775807", "bytes=", "bytes=-", "bytes=0-0", "bytes=1-0", "bytes=-99999999", "bytes=99999999-",
          "bytes=450000-880000", "bytes=0-9223372036854775807", "bytes=9223372036854775807-", "bytes=18446744073709551615-", "bytes=-1-1", "bytes=0-0,450000-880000", "bytes=0-" + ",0-" * 2000,
          "bytes=" + "1" * 6000 + "-", "bits=0-1", "chunked", "gzip, br;q=0", "100-continue", "close", "keep-alive, close", "Upgrade", "websocket", "h2c", "multipart/form-data; boundary=x",
          "\"" * 3000, ";" * 4000, "%00%0d%0a", "\xff\xfe" * 40]
PATHS = ["/", "/page.js", "/page.css", "/api/runs", "/api/runs/1", "/api/runs/1/kernels/1"]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    kw = Kernelwright(folder / "home", folder / "cache")
    plant(kw, 4)
    process = kw.start("view", "--json")
    ready, _, _ = select.select([process.stdout], [], [], 30)
    assert ready, "the viewer does not say where it is"
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    yield json.loads(text)["port"]
    process.terminate()
    assert kw.finish(process).status == PASSED


def exchange(port, text):
    """Everything that comes back until the server hangs up, which hears that nothing more is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        said = b""
        try:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(1 << 16):
                said += piece
        except ConnectionError:
            pass  # hung up with something of ours unread
    return said


def request(port, path, *fields, method="GET"):
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *(f"{name}: {value}" for name, value in fields), "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def parts(said):
    head, _, body = said.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.lower(), body


@pytest.mark.parametrize("value", ["bytes=450000-880000", "bytes=99999999-", "bytes=0-99999999", "bytes=5-9", "bytes=0-0,450000-880000"])
@pytest.mark.parametrize("path", ["/page.css", "/api/runs"])
def test_no_range_reaches_past_a_page(port, path, value):
    whole = parts(exchange(port, request(port, path)))[2]
    status, head, body = parts(exchange(port, request(port, path, ("Range", value))))
    assert status == 200 and body == whole and b"content-range" not in head
    assert b"accept-ranges: none" in head
    assert parts(exchange(port, request(port, path, ("Range", value), method="HEAD")))[2] == b""


def test_no_header_changes_what_is_answered(port):
    whole = {path: parts(exchange(port, request(port, path)))[2] for path in PATHS}
    draw = random.Random(5)
    for _ in range(250):
        path = draw.choice(PATHS)
        fields = [(draw.choice(NAMES), draw.choice(VALUES)) for _ in range(draw.randint(1, 4))]
        said = exchange(port, request(port, path, *fields))
        assert said, fields
        status, _, body = parts(said)
        if sum(len(name) + len(value) + 4 for name, value in fields) < 16000:
            assert status == 200 and body == whole[path], (path, fields)
        else:
            assert status in (200, 431) and body in (whole[path], b""), (path, fields)


def test_bytes_that_were_changed_at_random_give_a_page_or_a_refusal(port):
    whole = {parts(exchange(port, request(port, path)))[2] for path in PATHS}
    draw = random.Random(9)
    for _ in range(250):
        text = bytearray(request(port, draw.choice(PATHS), ("Range", "bytes=0-1"), ("Accept", "*/*")))
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(text) - 4)
            text[at] = draw.choice(b"\x00\r\n :/0aZ\x7f\xff")
        said = exchange(port, bytes(text))
        if said:
            status, _, body = parts(said)
            assert status in (200, 400, 404, 405, 421) and (status != 200 or body in whole), bytes(text)


@pytest.mark.parametrize("second", ["127.0.0.1:{port}", "evil.example", ""])
def test_two_hosts_are_refused(port, second):
    said = exchange(port, request(port, "/api/runs", ("Host", second.format(port=port))))
    assert said.startswith(b"HTTP/1.1 400 ") and b"runs" not in said


def test_what_stands_behind_a_body_is_no_request(port):
    hidden = request(port, "/api/runs")
    text = f"GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(hidden)}\r\n\r\n".encode() + hidden
    assert exchange(port, text).count(b"HTTP/1.1 ") == 1


def test_requests_that_come_together_are_answered_in_order(port):
    first = f"GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    said = exchange(port, first + first + request(port, "/api/runs"))
    style = parts(exchange(port, request(port, "/page.css")))[2]
    assert said.count(b"HTTP/1.1 200") == 3 and said.count(style) == 2 and said.index(b'{"page":"list"') > said.rindex(style)


@pytest.mark.parametrize("half", [b"", b"G", b"GET / HTTP/1.1\r\nHost: 127.0.0.1"])
def test_half_open_requests_delay_nobody(port, half):
    waiting = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(300)]
    try:
        for connection in waiting:
            connection.sendall(half)
        assert parts(exchange(port, request(port, "/api/runs")))[0] == 200
        # An answer that came only once the server had given these up would find them closed.
        for connection in waiting:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
    finally:
        for connection in waiting:
            connection.close()


def test_of_too_many_the_oldest_are_let_go(port):
    waiting = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(600)]
    try:
        assert waiting[0].recv(1) == b""
        assert parts(exchange(port, request(port, "/")))[0] == 200
    finally:
        for connection in waiting:
            connection.close()
