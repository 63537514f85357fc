"""The facts of a fabric that `weft fabric` prints."""

REST = '[traffic]\nsizes = "web-search"\nload = 0.4\n[scheme]\nname = "ecmp"\n'


def test_one_switch_of_a_tier_has_the_singular(weft, tmp_path):
    path = tmp_path / "servers.toml"
    for kind, expected in (
        ('"rail-optimised"\npods = 1\nservers_per_pod = 2\ngpus = 2\nspines = 1', "2 scale-up, 2 leaves, 1 spine)"),
        ('"spine-leaf"\nspines = 1\nleaves = 2\nhosts_per_leaf = 2', "2 leaves, 1 spine)"),
    ):
        path.write_text(f"[fabric]\nkind = {kind}\n{REST}")
        assert expected in weft("fabric", path).output
