"""An exported fabric under FRR in network namespaces: routes compared with Weft's, reaction to failed links."""
