"""The wheel: buckets and keys, arming, ticking, sweeping, leases. Pure."""
