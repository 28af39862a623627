"""The ports: one Protocol for each outside thing that the use cases need, with its promises.

Every implementation keeps the same promises, and one suite checks all of them (tests/contract). Reads are
strongly consistent. A refused write has changed nothing. The SDK retries by itself, so a store may refuse a
conditional write because an earlier try of it succeeded. For this, every such write carries its own token. If
an implementation finds that token in the stored item, it answers that the write succeeded. After a StoreError
it is unknown whether the write was applied.
"""
