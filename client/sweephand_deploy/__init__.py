"""Deploys a stack of Sweephand to an AWS account, without SAM's command line.

SAM's command line is 250 MB of packages, which need other versions than the rest. AWS transforms the
template, as it does for `sam deploy`. Otherwise a local translator's version would decide what a stack is.
"""
