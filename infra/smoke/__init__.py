"""Checks that a deployed stack works: on an AWS account, or with `--local` on this machine."""
