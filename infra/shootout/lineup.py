"""The schedulers that are measured, in the order of their turns."""

from collections.abc import Sequence
from typing import Final

from infra.shootout.peer import Peer
from infra.shootout.peers.dev import Dev

PEERS: Final[Sequence[Peer]] = (Dev(has_file=False), Dev(has_file=True))
