"""The text that `make up` prints at the end: lines to paste, which lead to a first delivery."""

from collections.abc import Mapping
from typing import Any


def first_steps(stack: Mapping[str, Any], inbox_url: str, *, ended_by: str) -> str:
    """The text for a stack as its file describes it; `ended_by` is the command that ends the stack."""
    return f"""
Paste these lines. They say where the stack is, for the examples here and in docs/:

export API={stack["apiUrl"]}
export KEY={stack["apiKey"]}
export INBOX={inbox_url}

Then deliver something in five seconds. The inbox waits for it and shows it:

curl -X PUT $API/v1/namespaces/demo/jobs/hello \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{{"dueTime": "5s", "data": {{"hello": "world"}},
       "target": {{"type": "http", "url": "'$INBOX'/hello"}}}}'
curl $INBOX/next

A console is at {stack["apiUrl"]}/console. Sign in with the key.
Every call is described at {stack["apiUrl"]}/docs
`{ended_by}` ends the stack and deletes what it stored. The next stack has the same address and key."""
