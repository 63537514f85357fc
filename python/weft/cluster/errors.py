"""The errors of a sweep on a cluster."""

from ..errors import WeftError


class ClusterError(WeftError):
    """The cluster cannot be used: not found, without suitable workers, or gone."""


class SchedulerLostError(ClusterError):
    """The connection to the scheduler broke during a sweep; finished runs are kept."""
