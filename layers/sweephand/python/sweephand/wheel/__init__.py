"""The use cases of the wheel: arming, expanding, catching up, sweeping, ticking. Pure."""
