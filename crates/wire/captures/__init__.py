"""Makes `captures.json`: Multipath TCP connections as switches see them, and values derived from them.

Most come from this machine's kernel, between two namespaces, with joins from either side, losses, refusals and
forgeries (`scenes.py`, `acts.py`); a few are reordered, or made by hand if no kernel here sends them (`by_hand.py`).

`make captures`, as root, recreates the file with new keys, ports and times; the tests must still pass.
"""
