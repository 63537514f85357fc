"""Sweeps on the workers of a Dask cluster: `connection.Cluster` connects and `sweep` sends runs.

Here: `address`, `connection`, `workers` (whom to send runs), `sweep`, `transfer` (files, there and back). On a worker:
`host` carries out runs, `inputs` keeps the files that scenarios name. See `docs/cluster.md`.
"""
