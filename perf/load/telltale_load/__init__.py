# SPDX-License-Identifier: Apache-2.0
"""The parts of ./tt load: where processes run, the servers, the generator, the alternation, figures, report."""


class Failed(Exception):
    """Nothing can be said about speed; the text says why, for the person who started the measurement."""
