# SPDX-License-Identifier: Apache-2.0
"""The parts of ./tt load latency: what is wrong, what a worker calls meanwhile, the runs, figures and gates."""
