"""Makes `captures.json`: connections of Multipath TCP as switches see them, and what follows from them.

Most are what this machine's kernel sends between two namespaces, with joins from either side, losses, refusals and
forgeries (`scenes.py`); few are put in another order, or made by hand where no kernel here does it (`by_hand.py`).

    cd crates/wire && sudo python3 -m captures

writes the file anew: keys, ports and times are others then, and all that the tests check holds as before.
"""
