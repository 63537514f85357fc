"""`weft bench --against htsim`: Weft and a uet-htsim that the user has built, on the same traffic.

Both simulate the same connection matrix with equal parameters, in processes of their own and in alternating order. CPU
time and peak memory are compared only if both report the same packets and the same last completion.
"""
