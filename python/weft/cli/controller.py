"""`weft controller`: controls OpenFlow switches; `weft controller show`: shows its state."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .._weft import OPENFLOW_PORT
from ..catalogue import controller_settings
from ..sockets import RUN_DIR
from . import shell
from .fabric import Order
from .help_pages import Commands

app = Commands()

_CORE = controller_settings()
_DEFAULTS = {name: setting["default"] for name, setting in _CORE.items()}


def _number(setting: str, metavar: str, text: str) -> Any:
    """The option of a number of the core's settings, with its range."""
    least, most = _CORE[setting]["range"]["whole"]
    return typer.Option(min=least, max=most, metavar=metavar, help=text)


class Forwarding(StrEnum):
    """How the controller forwards."""

    smoc = "smoc"
    spanning_tree = "spanning-tree"


class Reverse(StrEnum):
    """The path of a subflow's reverse direction."""

    same = "same"
    own = "own"


class Pick(StrEnum):
    """The path of its set that a subflow takes."""

    least_used = "least-used"
    next = "next"


class Role(StrEnum):
    """The role of this controller while another one is connected."""

    master = "master"
    standby = "standby"


class Shown(StrEnum):
    """The kind of state to show."""

    connections = "connections"
    paths = "paths"
    switches = "switches"
    stations = "stations"
    status = "status"


Control = Annotated[
    Path | None,
    typer.Option(
        metavar="SOCKET", help=f"The controller's control socket (default: {RUN_DIR}/controller.sock for root)."
    ),
]


@app.callback(invoke_without_command=True)
@shell.guarded
def controller(
    context: typer.Context,
    fabric: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fabric file of the expected network; differences are reported."),
    ] = None,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Address that switches connect to.")
    ] = f"127.0.0.1:{OPENFLOW_PORT}",
    forwarding: Annotated[
        Forwarding, typer.Option(help="One path per subflow, or one spanning tree for all traffic.")
    ] = _DEFAULTS["controller"],
    paths: Annotated[int, _number("paths", "N", "Paths per set.")] = _DEFAULTS["paths"],
    proactive: Annotated[
        int | None,
        _number(
            "proactive_paths",
            "N",
            "Paths installed when a connection starts; 1: only when needed "
            f"(default: {_DEFAULTS['proactive_paths']}, at most --paths).",
        ),
    ] = None,
    order: Annotated[
        Order,
        typer.Option(help="Fewest links shared with the first path (paper) or with all earlier paths (disjoint)."),
    ] = _DEFAULTS["order"],
    reverse: Annotated[
        Reverse, typer.Option(help="A subflow's reverse direction takes the same path, or its own of a second set.")
    ] = _DEFAULTS["reverse"],
    pick: Annotated[
        Pick, typer.Option(help="A subflow takes the path with the fewest subflows, or the next in a cycle.")
    ] = _DEFAULTS["pick"],
    idle_timeout: Annotated[
        int, _number("idle_timeout_s", "SECONDS", "Remove a flow's rules after this time without a packet.")
    ] = _DEFAULTS["idle_timeout_s"],
    role: Annotated[
        Role, typer.Option(help="master takes control at once; standby waits until no other controller is active.")
    ] = Role.master,
    metrics: Annotated[
        str | None, typer.Option(metavar="ADDRESS:PORT", help="Serve Prometheus metrics here (default: off).")
    ] = None,
    control: Control = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Use TLS with switches: private key of this controller (PEM).")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate of this controller (PEM).")] = None,
    tls_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CA certificates that sign the switches' certificates (PEM).")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Debug output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings and errors.")] = False,
) -> None:
    """Control OpenFlow 1.3 switches: each Multipath TCP subflow on a path of its own, the rest on shortest paths.

    Runs until Ctrl-C; switches then keep their rules. Point a switch at it with, for example,
    [bold]ovs-vsctl set-controller s1 tcp:127.0.0.1:6653[/bold].

    [bold]Examples[/bold]

      weft controller
      weft controller --fabric scenarios/smoc/topology1.fabric.toml --metrics 127.0.0.1:19466
      weft controller --listen :6653 --forwarding spanning-tree
      weft controller --listen :6653 --tls-key key.pem --tls-cert cert.pem --tls-ca switches.pem
      weft controller show connections
    """
    if context.invoked_subcommand is not None:
        return
    from ..controller.address import Address
    from ..controller.settings import METRICS_PORT, Expected, Settings, default_control
    from ..controller.tls import Tls

    settings = Settings(
        listen=Address.parse(listen, "--listen", OPENFLOW_PORT),
        control=control or default_control(),
        metrics=None if metrics is None else Address.parse(metrics, "--metrics", METRICS_PORT),
        forwarding=forwarding.value,
        paths=paths,
        proactive=proactive,
        order=order.value,
        reverse=reverse.value,
        pick=pick.value,
        idle_timeout_s=idle_timeout,
        role=role.value,
        fabric=None if fabric is None else Expected.read(fabric),
        tls=Tls.of(tls_key, tls_cert, tls_ca),
    )
    from .. import log
    from ..controller import run

    with log.lines("weft.controller", verbose=verbose, quiet=quiet):
        run.run(settings)


@app.command()
@shell.guarded
def show(
    context: typer.Context,
    what: Annotated[Shown, typer.Argument(help="The state to show.")],
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Maximum number of rows.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    control: Control = None,
) -> None:
    """Show the switches, stations, connections and paths of a running controller.

    [bold]Examples[/bold]

      weft controller show switches
      weft controller show connections --limit 20
      weft controller show paths --json
    """
    from ..controller import client, tables
    from ..controller.settings import default_control

    above = context.parent.params.get("control") if context.parent is not None else None
    shown = client.ask(control or above or default_control(), what.value, limit)
    if as_json:
        shell.print_json(shown)
    else:
        tables.show(shell.out, what.value, shown)
