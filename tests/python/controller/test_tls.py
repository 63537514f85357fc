"""OpenFlow over TLS: with Open vSwitch, and errors in files and switches."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from certificates import Authority
from fake import Switch, opened, running, until
from weft.controller.errors import ControllerError
from weft.controller.tls import Tls


def client(authority, files=None):
    """The TLS context of a switch that trusts an authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(authority.certificate)
    if files is not None:
        context.load_cert_chain(files[1], files[0])
    return context


@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    """The authority of the controller's and switches' certificates, and another one."""
    directory = tmp_path_factory.mktemp("certificates")
    return Authority(directory, "ours"), Authority(directory, "theirs")


async def test_switches_with_a_certificate_of_the_authority_are_let_in_and_no_others(authorities, tmp_path, caplog):
    ours, theirs = authorities
    key, certificate = ours.issue("controller")
    # Made before, as nothing else runs meanwhile.
    let_in = client(ours, ours.issue("s1"))
    refused = client(ours), client(ours, theirs.issue("s2")), client(theirs, ours.issue("s3"))

    async with running(tmp_path, tls=Tls(key, certificate, ours.certificate)) as network:
        good = await Switch(1, context=let_in).connect(network.address)
        network.switches.append(good)
        await until(lambda: network.core.calls("switch_up"))
        for context in refused:
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                reader, _ = await opened(network.address, ssl=context)
                await reader.readexactly(8)
                await reader.readexactly(1)
        _, writer = await opened(network.address)
        writer.write(b"\4\0\0\x08\0\0\0\1")
        await until(lambda: network.service.counts["handshakes_refused"] == 4)
        writer.close()
        assert good.open and len(network.core.calls("switch_up")) == 1
        # Failed TLS handshakes are counted, and do not keep the controller from stopping.
        await opened(network.address)
    for words in ("it sent no certificate", "certificate is not accepted", "it does not speak TLS", "it may not trust"):
        assert words in caplog.text, caplog.text


def test_what_is_wrong_with_files_is_named(authorities, tmp_path):
    ours, _ = authorities
    key, certificate = ours.issue("named")
    other = ours.issue("another")[0]
    assert Tls.of(None, None, None) is None
    with pytest.raises(ControllerError, match=r"missing: --tls-cert, --tls-ca"):
        Tls.of(key, None, None)
    for files, words in (
        ((tmp_path / "none", certificate, certificate), "--tls-cert .* and --tls-key .*none: No such file"),
        ((other, certificate, certificate), "key values mismatch"),
        ((key, certificate, tmp_path / "none"), "--tls-ca .*none: No such file"),
        ((key, certificate, key), "--tls-ca .*: "),
    ):
        with pytest.raises(ControllerError, match=words):
            Tls(*files).context()


def test_open_vswitch_is_controlled_over_tls_and_refused_with_the_reason_without(lab):
    seen = lab(
        """
        from certificates import Authority

        ours, theirs = (Authority(Path("/run"), name) for name in ("ours", "theirs"))
        key, certificate = ours.issue("controller")
        words = ["--tls-key", str(key), "--tls-cert", str(certificate), "--tls-ca", str(ours.certificate)]
        controller = Controller("--fabric", str(FABRIC), *words)
        with network(controllers=()) as net:
            def connect(scheme):
                for switch in net.plan.switches:
                    name = net.plan.linux_names[switch.name]
                    net.switch._configure("set-controller", name, f"{scheme}:127.0.0.1:{PORT}")

            connect("tcp")
            until("plain TCP is refused", lambda: "does not speak TLS" in controller.log())
            strange = theirs.issue("switches")
            net.switch._configure("set-ssl", *map(str, strange), str(ours.certificate))
            connect("ssl")
            until("a strange certificate is refused", lambda: "its certificate is not accepted" in controller.log())
            refused = controller.show("status")["status"]["switches"]
            net.switch._configure("set-ssl", *map(str, ours.issue("switches")), str(ours.certificate))
            connect("ssl")
            controller.ready()
            over_tls = pings(net)
            shown = controller.show("switches")["switches"]
            controller.stop()
            plain = Controller("--fabric", str(FABRIC))
            until("TLS is reported", lambda: "speaks TLS" in plain.log())
            tell(over_tls=over_tls, refused=refused, ready=[row["connection"] for row in shown],
                 log=controller.log())
        """
    )
    assert seen["over_tls"] == 5, seen["log"]
    assert seen["refused"] == 0
    assert seen["ready"] == ["ready"] * 6
    assert "--tls-key, --tls-cert and --tls-ca" in seen["log"]
    assert "internal" not in seen["log"] and "Traceback" not in seen["log"]
