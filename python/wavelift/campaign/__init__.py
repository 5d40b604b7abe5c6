"""Campaigns: many runs of wavelift as pure tasks, on one machine or on a cluster.

`python -m wavelift.campaign` runs differential fuzzing, launch manifests, sweeps of inputs and test
programs, serially or by Dask. What a unit of work gives depends only on its contents, on the build of
wavelift and on the CPU's instruction set; a hash of these is the key of its result in one SQLite file.
So a campaign continues where it was stopped, and results of several machines are merged.

docs/campaigns.md is the tutorial. Modules: `units` has the kinds of work, `results` the file,
`sources` what remains to be done and in which pieces, `backends` where it runs, `campaign` the loop,
`report` the summary, `__main__` the command line.
"""

from __future__ import annotations

__all__ = ["CampaignError"]


class CampaignError(Exception):
    """Wrong use, or why a campaign cannot run; the message says what to do."""
