"""Deeper than the paper: what the recommended presets do, as figures with claims.

``langevin-dqn reproduce deeper --store results`` runs what is missing, draws them and decides their claims, as it does
for the paper's figures. ``docs/going_deeper.md`` derives the method and reports what was found.
"""
