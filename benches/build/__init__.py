"""How long a clone of the repository takes to build."""
