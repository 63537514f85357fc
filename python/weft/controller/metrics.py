"""Prometheus metrics over HTTP: counters and sizes of the core and of this package, and path setup times."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial
from http import HTTPStatus

from . import http as site
from . import status
from .address import Address
from .errors import ControllerError
from .service import Service

try:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
    from prometheus_client.registry import Collector, CollectorRegistry
except ImportError as missing:
    raise ControllerError(
        f"--metrics needs the Python package prometheus-client, which is not installed ({missing})",
        "`make controller` in Weft's directory, or `pip install 'weft[controller]'`",
    ) from None

_PREFIX = "weft_controller"


class _Reader(Collector):
    """Reads a service on every scrape."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        service = self._service
        service.collect()
        reasons = CounterMetricFamily(f"{_PREFIX}_drops", "Frames dropped or ignored, by reason", labels=["reason"])
        for name, value in sorted(status.counters(service).items()):
            if name in _DROPS:
                reasons.add_metric([name], value)
            elif name.endswith("_now"):
                text = name.removesuffix("_now")
                yield GaugeMetricFamily(f"{_PREFIX}_{text}", f"{_sentence(text)}, now", value=value)
            else:
                yield CounterMetricFamily(f"{_PREFIX}_{name}", f"{_sentence(name)}, since the start", value=value)
        yield reasons
        ready = sum(switch.is_ready for switch in service.switches.values())
        yield GaugeMetricFamily(f"{_PREFIX}_switches_ready", "Switches under control", value=ready)
        histogram = HistogramMetricFamily(
            f"{_PREFIX}_path_setup_seconds",
            "From the packet that needs a path (the first SYN) to the last switch's confirmation of its rules",
        )
        histogram.add_metric([], service.set_up.cumulative(), service.set_up.sum_s)
        yield histogram


_DROPS = frozenset(
    (
        *("addresses_forged", "addresses_limited", "claims_refuted", "floods_limited", "frames_dropped"),
        *("frames_filtered", "frames_relay_limited", "frames_without_path", "joins_forged", "joins_refused"),
        *("packet_ins_from_nowhere", "packet_ins_over_limit", "packet_outs_without_switch", "stations_refused"),
    )
)
"""Counters of frames that were dropped or ignored: the reasons of `drops`."""


async def serve(service: Service, address: Address) -> asyncio.AbstractServer:
    """Serve `GET /metrics` on a TCP address.

    Raises:
        ControllerError: Cannot listen on the address.
    """
    registry = CollectorRegistry()
    registry.register(_Reader(service))
    handlers = {"/metrics": partial(_answer, registry)}
    try:
        host = address.host or None
        return await asyncio.start_server(site.Site(handlers).serve, host, address.port, limit=site.LIMIT)
    except OSError as error:
        raise address.refused(error, "--metrics") from None


def _answer(registry: CollectorRegistry, query: Mapping[str, list[str]]) -> site.Answer:
    return site.Answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(registry))


def _sentence(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]
