"""The controller's external interfaces: control socket and metrics."""

from __future__ import annotations

import asyncio
import socket
import stat

import pytest

pytest.importorskip("prometheus_client", reason="the Python package prometheus-client is not installed")

from fake import opened, running
from weft.controller import client, control, metrics, site
from weft.controller.address import Address
from weft.controller.errors import ControllerError
from weft.controller.latency import Latency


async def fetch(address, request):
    """A server's raw answer to a request."""
    reader, writer = await opened(address)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer.decode()


async def asked(path, what, limit=10):
    """`client.ask` from another thread, as from another process."""
    return await asyncio.to_thread(client.ask, path, what, limit)


async def test_the_control_socket_tells_what_there_is_and_belongs_to_its_user(tmp_path):
    async with running(tmp_path) as network:
        path = tmp_path / "run" / "c.sock"
        path.parent.mkdir()
        server = await control.serve(network.service, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        await network.switch(1)
        shown = await asked(path, "switches")
        (switch,) = shown["switches"]
        assert (switch["connection"], switch["software"]) == ("ready", "Open vSwitch 3.1")
        assert switch["address"].startswith("127.0.0.1:")
        status = await asked(path, "status")
        assert status["status"]["switches"] == 1 and status["counters"]["packet_ins_received"] == 3
        assert (await asked(path, "paths"))["paths"] == []
        with pytest.raises(ControllerError, match="no such path: /v1/nothing; available: /v1/status"):
            await asked(path, "nothing")
        with pytest.raises(ControllerError, match="another controller uses"):
            await control.serve(network.service, path)
        server.close()


async def test_a_socket_that_a_killed_controller_left_is_taken_over(tmp_path):
    async with running(tmp_path) as network:
        path = tmp_path / "c.sock"
        server = await control.serve(network.service, path)
        server.close()
        await server.wait_closed()
        assert path.is_socket()
        server = await control.serve(network.service, path)
        assert (await asked(path, "paths"))["paths"] == []
        server.close()


async def test_the_control_socket_accepts_connections_as_soon_as_it_exists(tmp_path, monkeypatch):
    path = tmp_path / "c.sock"
    existed = []

    class Watched(socket.socket):
        def listen(self, *backlog):
            existed.append(path.exists())
            super().listen(*backlog)

    async with running(tmp_path) as network:
        monkeypatch.setattr(socket, "socket", Watched)
        server = await control.serve(network.service, path)
        assert existed == [False, True]  # asyncio listens once more, with its own backlog
        assert [found.name for found in tmp_path.iterdir() if found.is_socket()] == ["c.sock"]
        server.close()


async def test_the_path_of_a_socket_may_be_as_long_as_linux_allows(tmp_path):
    name = "controller.sock"
    folder = tmp_path / "f".ljust(107 - len(f"{tmp_path}//{name}"), "f")
    folder.mkdir()
    async with running(tmp_path) as network:
        server = await control.serve(network.service, folder / name)
        assert (await asked(folder / name, "paths"))["paths"] == []
        server.close()


async def test_what_is_no_socket_is_not_replaced(tmp_path):
    path = tmp_path / "c.sock"
    path.write_text("mine")
    async with running(tmp_path) as network:
        with pytest.raises(ControllerError, match=f"cannot create the socket {path}: File exists"):
            await control.serve(network.service, path)
    assert [path.read_text(), *tmp_path.glob(".*")] == ["mine"]


async def test_metrics_have_the_histogram_counters_and_drops_by_reason(tmp_path):
    async with running(tmp_path) as network:
        server = await metrics.serve(network.service, Address("127.0.0.1", 0))
        address = ":".join(map(str, server.sockets[0].getsockname()))
        await network.switch(1)
        network.core.took = [0.003]
        answer = await fetch(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer.startswith("HTTP/1.1 200 OK")
        for line in (
            "weft_controller_path_setup_seconds_count 1.0",
            'weft_controller_path_setup_seconds_bucket{le="+Inf"} 1.0',
            'weft_controller_drops_total{reason="frames_without_path"} 2.0',
            'weft_controller_transactions_total{result="late"} 0.0',
            "weft_controller_mptcp_connections 1.0",
            "weft_controller_packet_ins_total 3.0",
            "weft_controller_transactions_open 4.0",
            "weft_controller_leading 1.0",
            "weft_controller_switches_ready 1.0",
            "weft_controller_links 0.0",
        ):
            assert line in answer, line
        with pytest.raises(ControllerError, match=r"--metrics: .* is already in use by another program"):
            await metrics.serve(network.service, Address("127.0.0.1", int(address.rpartition(":")[2])))
        server.close()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", "404"),
        (b"GET //[ HTTP/1.1\r\nHost: x\r\n\r\n", "404"),
        (b"POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "405"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "400"),
        (b"nonsense\r\n\r\n", "400"),
        (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", "400"),
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", "400"),
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"X: x\r\n" * 2_000 + b"\r\n", "400"),
    ],
)
async def test_what_is_no_request_is_refused_and_not_logged(tmp_path, caplog, request_, status):
    async with running(tmp_path) as network:
        server = await metrics.serve(network.service, Address("127.0.0.1", 0))
        address = ":".join(map(str, server.sockets[0].getsockname()))
        assert (await fetch(address, request_)).split()[1] == status
        server.close()
    assert not caplog.records


async def test_who_does_not_finish_a_request_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "_PATIENCE_S", 0.1)

    async with running(tmp_path) as network:
        server = await metrics.serve(network.service, Address("127.0.0.1", 0))
        address = ":".join(map(str, server.sockets[0].getsockname()))
        assert await fetch(address, b"GET /metrics HTTP/1.1\r\n") == ""
        head = await fetch(address, b"HEAD /metrics HTTP/1.0\r\n\r\n")
        assert head.startswith("HTTP/1.0 200 OK") and head.endswith("\r\n\r\n") and "weft" not in head
        server.close()


async def test_a_connection_is_closed_after_one_request(tmp_path):
    async with running(tmp_path) as network:
        server = await metrics.serve(network.service, Address("127.0.0.1", 0))
        address = ":".join(map(str, server.sockets[0].getsockname()))
        two = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 2
        assert (await fetch(address, two)).count("HTTP/1.1 200 OK") == 1
        server.close()


async def test_a_failing_answer_is_an_error_and_the_next_one_is_not(tmp_path, caplog, monkeypatch):
    async with running(tmp_path) as network:
        server = await control.serve(network.service, tmp_path / "c.sock")
        with monkeypatch.context() as broken, pytest.raises(ControllerError, match="KeyError: 'x'"):
            broken.setattr(control.status, "show", lambda service, what, limit: {}["x"])
            await asked(tmp_path / "c.sock", "status")
        assert "a request for /v1/status?limit=10 failed" in caplog.text
        assert (await asked(tmp_path / "c.sock", "status"))["status"]["switches"] == 0
        server.close()


def test_latency_has_quantiles_and_the_buckets_of_prometheus():
    latency = Latency()
    assert latency.quantiles() is None
    for milliseconds in range(1, 101):
        latency.add(milliseconds / 1000)
    assert latency.quantiles() == {"p50_s": 0.05, "p99_s": 0.099, "max_s": 0.1, "count": 100}
    assert [latency.last(limit) for limit in (0, 2)] == [[], [0.099, 0.1]]
    assert len(latency.last(1000)) == 100
    buckets = dict(latency.cumulative())
    assert (buckets["0.01"], buckets["0.03"], buckets["+Inf"]) == (10, 30, 100)
    assert latency.sum_s == pytest.approx(5.05)
