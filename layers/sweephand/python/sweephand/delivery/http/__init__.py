"""Delivering to an HTTP endpoint: connections, requests, answers, the egress guard."""
