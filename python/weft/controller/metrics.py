"""Prometheus metrics over HTTP: counters and sizes of the core and of this package, and path setup times."""

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial

from aiohttp import web

from .. import __version__
from . import site, status
from .address import Address
from .errors import ControllerError
from .metric_names import COUNTERS, GAUGES, SPLIT
from .service import Service

try:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
    from prometheus_client.process_collector import ProcessCollector
    from prometheus_client.registry import Collector, CollectorRegistry
except ImportError as missing:
    raise ControllerError(
        f"--metrics needs the Python package prometheus-client, which is not installed ({missing})",
        "`make controller` in Weft's directory, or `pip install 'weft[controller]'`",
    ) from None

_PREFIX = "weft_controller"


class _Reader(Collector):
    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """All metrics. Counters exist from the start: a rate needs the 0 before the first event."""
        service = self._service
        service.collect()
        values = status.counters(service)
        for counter, (name, text) in COUNTERS.items():
            yield CounterMetricFamily(f"{_PREFIX}_{name}", text, value=values.get(counter, 0))
        for name, split in SPLIT.items():
            family = CounterMetricFamily(f"{_PREFIX}_{name}", split.text, labels=[split.label])
            for label, counter in split.counters.items():
                family.add_metric([label], values.get(counter, 0))
            yield family
        # Sizes that the forwarding does not have are missing, not 0.
        for counter, (name, text) in GAUGES.items():
            if counter in values:
                yield GaugeMetricFamily(f"{_PREFIX}_{name}", text, value=values[counter])
        ready = sum(switch.is_ready for switch in service.switches.values())
        yield GaugeMetricFamily(f"{_PREFIX}_switches_ready", "Switches under control.", value=ready)
        text = "1 if this controller is the master, 0 if it is the standby."
        yield GaugeMetricFamily(f"{_PREFIX}_leading", text, value=service.is_leading)
        info = GaugeMetricFamily(
            f"{_PREFIX}_info",
            "Forwarding and version of the controller; the value is always 1.",
            labels=["forwarding", "version"],
        )
        info.add_metric([service.settings.forwarding, __version__], 1)
        yield info
        histogram = HistogramMetricFamily(
            f"{_PREFIX}_path_setup_seconds",
            "Time from the packet that needs a path (the first SYN) to the last switch's confirmation of its rules.",
        )
        histogram.add_metric([], service.set_up.cumulative(), service.set_up.sum_s)
        yield histogram


async def serve(service: Service, address: Address) -> asyncio.AbstractServer:
    """Serve `GET /metrics` on a TCP address. Raises `ControllerError` if it cannot listen there."""
    registry = CollectorRegistry()
    registry.register(_Reader(service))
    ProcessCollector(registry=registry)
    handlers = {"/metrics": partial(_answer, registry)}
    try:
        loop = asyncio.get_running_loop()
        return await loop.create_server(site.connections(handlers), address.host or None, address.port)
    except OSError as error:
        raise address.refused(error, "--metrics") from None


def _answer(registry: CollectorRegistry, query: Mapping[str, str]) -> web.Response:
    return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})
