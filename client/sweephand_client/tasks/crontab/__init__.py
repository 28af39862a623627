"""Turns a crontab into jobs, by the rules of docs/crontab.md: one line is one job."""
