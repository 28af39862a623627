"""Deploys a stack of Sweephand to an AWS account, without SAM's command line."""
