"""`weft controller`: steers OpenFlow switches; `weft controller show`: what it has found and installed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from . import shell

app = typer.Typer(
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Forwarding(StrEnum):
    """How the controller forwards."""

    smoc = "smoc"
    spanning_tree = "spanning-tree"


class Order(StrEnum):
    """In what order a path set has its paths."""

    paper = "paper"
    disjoint = "disjoint"


class What(StrEnum):
    """What can be shown."""

    connections = "connections"
    paths = "paths"
    switches = "switches"
    stations = "stations"
    status = "status"


Control = Annotated[
    Path | None,
    typer.Option(
        metavar="SOCKET", help="The controller's control socket (default: /run/weft/controller.sock for root)."
    ),
]


@app.callback(invoke_without_command=True)
@shell.guarded
def controller(
    context: typer.Context,
    fabric: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The network as it should be: a fabric file; differences are reported."),
    ] = None,
    listen: Annotated[str, typer.Option(metavar="ADDRESS:PORT", help="Where switches connect to.")] = "127.0.0.1:6653",
    forwarding: Annotated[
        Forwarding, typer.Option(help="A path for each subflow, or all on one spanning tree (to compare with).")
    ] = Forwarding.smoc,
    paths: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Paths of a set.")] = 8,
    proactive: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            metavar="N",
            help="Of them installed when a connection is seen; 1: when needed (default: 4, at most --paths).",
        ),
    ] = None,
    order: Annotated[
        Order, typer.Option(help="Paths by what they share with the first, or with all before them.")
    ] = Order.paper,
    idle_timeout: Annotated[
        int, typer.Option(min=1, max=3600, metavar="SECONDS", help="Without a packet, until a flow's rules go.")
    ] = 10,
    metrics: Annotated[
        str | None, typer.Option(metavar="ADDRESS:PORT", help="Where Prometheus asks for metrics (default: nowhere).")
    ] = None,
    control: Control = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Speak TLS with switches: this controller's private key (PEM).")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="This controller's certificate (PEM).")] = None,
    tls_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificates of those who sign switches' certificates (PEM).")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also say what is only of use to find a fault.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what somebody should look after.")] = False,
) -> None:
    """Steer OpenFlow 1.3 switches: each Multipath TCP subflow on a path of its own, the rest on shortest paths.

    Runs until Ctrl-C; switches then keep the rules they have. Switches are told of it with, for example,
    [bold]ovs-vsctl set-controller s1 tcp:127.0.0.1:6653[/bold].

    [bold]Examples[/bold]

      weft controller

      weft controller --fabric scenarios/smoc/topology1.fabric.toml --metrics 127.0.0.1:9100

      weft controller --listen :6653 --forwarding spanning-tree

      weft controller --listen :6653 --tls-key key.pem --tls-cert cert.pem --tls-ca switches.pem

      weft controller show connections
    """
    if context.invoked_subcommand is not None:
        return
    from ..controller.address import Address
    from ..controller.errors import ControllerError
    from ..controller.settings import Expected, Settings, default_control
    from ..controller.tls import Tls

    try:
        settings = Settings(
            listen=Address.parse(listen, "--listen", 6653),
            control=control or default_control(),
            metrics=None if metrics is None else Address.parse(metrics, "--metrics", 9100),
            forwarding=forwarding.value,
            paths=paths,
            proactive=proactive,
            order=order.value,
            idle_timeout_s=idle_timeout,
            fabric=None if fabric is None else Expected.read(fabric),
            tls=Tls.of(tls_key, tls_cert, tls_ca),
        )
        from .. import log
        from ..controller import run

        with log.lines("weft.controller", verbose=verbose, quiet=quiet):
            run.run(settings)
    except ControllerError as error:
        raise shell.fail(str(error), error.hint) from None


@app.command()
@shell.guarded
def show(
    context: typer.Context,
    what: Annotated[What, typer.Argument(help="What to show.")],
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Most rows.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    control: Control = None,
) -> None:
    """Show what a running controller has found and installed.

    [bold]Examples[/bold]

      weft controller show switches

      weft controller show connections --limit 20

      weft controller show paths --json
    """
    from ..controller import client, tables
    from ..controller.errors import ControllerError
    from ..controller.settings import default_control

    above = context.parent.params.get("control") if context.parent is not None else None
    try:
        shown = client.ask(control or above or default_control(), what.value, limit)
    except ControllerError as error:
        raise shell.fail(str(error), error.hint) from None
    if as_json:
        shell.print_json(shown)
    else:
        tables.show(shell.out, what.value, shown)
