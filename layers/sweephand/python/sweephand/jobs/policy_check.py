"""Whether the policy that a job names exists in the job's namespace."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Final, Literal, TypeAlias

from sweephand.base.errors import InvalidError, Violation
from sweephand.model.definition import Definition
from sweephand.model.policy import Policy, PolicyKey

#: Why a stack without flow policies refuses one. The sentence names the parameter of template.yaml.
POLICIES_OFF: Final = "Flow policies are off in this stack: set its parameter FlowPolicies to on."

#: Why the policy of a job lets no trigger through: it is paused, its consumer is out of order, it does not
#: exist, or flow policies are off in the stack.
PolicyBlock: TypeAlias = Literal["paused", "broken", "missing", "off"]


class PolicyCheck:
    """Finds the policies of jobs, and refuses the write of a job whose policy does not exist.

    A policy that was deleted is closed: jobs that name it stay under its limit, and no other job may name it.
    """

    def __init__(self, read: Callable[[PolicyKey], Policy | None]) -> None:
        self._read = read

    def check(self, namespace: str, definition: Definition) -> None:
        """Raise InvalidError if the definition names a policy that does not exist, or was deleted."""
        if self.block(namespace, definition) == "off":
            raise InvalidError([Violation("/policy", f"{POLICIES_OFF} Or leave this field out.")])
        name = definition.policy
        found = None if name is None else self._read(PolicyKey(namespace, name))
        if name is not None and (found is None or found.deleted_at is not None):
            detail = f"There is no policy {name} in namespace {namespace}. Create the policy first."
            raise InvalidError([Violation("/policy", detail)])

    def block(self, namespace: str, definition: Definition) -> PolicyBlock | None:
        """Why the definition's policy lets no trigger through. None if it does, or if there is no policy."""
        name = definition.policy
        if name is None:
            return None
        policy = self._read(PolicyKey(namespace, name))
        if policy is None:
            return "missing"
        if policy.paused_at is not None:
            return "paused"
        return None if policy.probe is None else "broken"

    def by(self, namespace: str, definition: Definition) -> str | None:
        """By what the definition's policy counts. None if it has one limit for all, or does not exist."""
        name = definition.policy
        policy = None if name is None else self._read(PolicyKey(namespace, name))
        return None if policy is None else policy.by

    def once(self) -> "PolicyCheck":
        """A check for one call: it reads each policy once, from whichever threads it is asked."""
        lock, remembered = Lock(), cache(self._read)

        def read(key: PolicyKey) -> Policy | None:
            with lock:
                return remembered(key)

        return PolicyCheck(read)


class PoliciesOff(PolicyCheck):
    """The check of a stack without flow policies: it reads nothing, and refuses every job that names one."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)

    def block(self, namespace: str, definition: Definition) -> PolicyBlock | None:  # noqa: ARG002 - as its base
        """Every policy is off."""
        return None if definition.policy is None else "off"

    def once(self) -> "PoliciesOff":
        """The same check."""
        return self
