"""The studies: reproductions of papers, whose claims are checked against the results; `registry` lists all of them."""
