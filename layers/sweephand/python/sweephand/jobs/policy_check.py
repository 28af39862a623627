"""Whether a job that is written may name its policy: the policy has to exist in the job's namespace."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.model.definition import Definition
from sweephand.model.policy import Policy, PolicyKey

#: Why a stack without flow policies refuses one. The sentence names the parameter of template.yaml.
POLICIES_OFF: Final = "Flow policies are off in this stack: set its parameter FlowPolicies to on."


class PolicyCheck:
    """Refuses a job that names a policy which does not exist.

    A policy can be deleted while jobs name it, and then their triggers wait. So only the write of a job is
    checked: it would most likely have a misspelled name.
    """

    def __init__(self, read: Callable[[PolicyKey], Policy | None] | None) -> None:
        """`read` is None in a stack without flow policies, which refuses every job that names one."""
        self._read = read

    def check(self, namespace: str, definition: Definition) -> None:
        """Raise InvalidError if the definition names a policy that does not exist, or was deleted."""
        name = definition.policy
        if name is None:
            return
        if self._read is None:
            raise InvalidError([Violation("/policy", f"{POLICIES_OFF} Or leave this field out.")])
        found = self._read(PolicyKey(namespace, name))
        if found is None or found.deleted_at is not None:
            detail = f"There is no policy {name} in namespace {namespace}. Create the policy first."
            raise InvalidError([Violation("/policy", detail)])

    def once(self) -> "PolicyCheck":
        """A check for one call: it reads each policy once, from whichever threads it is asked."""
        if self._read is None:
            return self
        lock, remembered = Lock(), cache(self._read)

        def read(key: PolicyKey) -> Policy | None:
            with lock:
                return remembered(key)

        return PolicyCheck(read)
