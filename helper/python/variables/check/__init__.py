"""``wfvar check`` (WV-14): a dry run of the pack's rules."""
