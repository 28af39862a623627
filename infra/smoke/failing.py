"""Checks of jobs that fail: retries, dead letters, overlap, and rights that are rarely used."""

import json
from typing import Any

from infra.local.client import Client
from infra.smoke.checks import Suite, expect
from infra.smoke.stage import Stage, eventually

FAILING = Suite()

_ONCE = {"maxAttempts": 1}
_INVALID = 422
_NO_SIMULATOR = "a local AWS has no IAM simulator"


@FAILING.add("What is given up becomes a dead letter in the queue that the job names.")
def dead_letter_of_the_job(stage: Stage) -> str:
    """The right to send to a job's dead-letter queue."""
    letters, missing = stage.queues.make("letters"), stage.queues.none("missing")
    stage.put("letters", dueTime="1s", target=missing.target, retry=_ONCE, deadLetterQueue=letters.url)
    letter = json.loads(letters.one().body)
    expect(letter["job"] == "job", f"the letter is of {letter['job']}")
    return str(letter["reason"])


@FAILING.add("What is given up becomes a dead letter in the stack's queue where the job names none.")
def dead_letter_of_the_stack(stage: Stage) -> str:
    """The right to send to the stack's dead-letter queue."""
    stage.put("stack-letters", dueTime="1s", target=stage.queues.none("missing").target, retry=_ONCE)
    letters = stage.queues.at(stage.outputs["DeadLetterQueueUrl"])

    def read() -> Any:
        found = (json.loads(each.body) for each in letters.rest())
        return next((each for each in found if each.get("namespace") == "smoke-stack-letters"), None)

    return str(eventually(read, "a letter in the stack's queue")["reason"])


@FAILING.add("A retry in 20 minutes is stored as a timer.")
def retry_timer(stage: Stage) -> str:
    """The delivery function's right to write timers. Only a long retry needs it."""
    retry = {"initialDelay": "20m", "multiplier": 1}
    path = stage.put("retry", dueTime="1s", target=stage.queues.none("missing").target, retry=retry)
    run = stage.run_of(path, "retrying", "failed")
    expect(run["state"] == "retrying", f"the run is {run['state']}: {run['reason']}")
    stage.client.call("DELETE", path)
    return f"next attempt at {run['nextAttemptAt']}"


@FAILING.add("Runs that take turns come one after the other, and their line is cleared.")
def taking_turns(stage: Stage) -> str:
    """The delivery function writes, reads and deletes the line of a job."""
    queue = stage.queues.make("turns")
    path = stage.put("turns", dueTime="24h", overlap="wait", target=queue.target)
    for _ in range(3):
        stage.client.ask("POST", f"{path}/trigger")
    came = {each.names["id"] for each in queue.take(3, 90)}
    expect(len(came) == 3, f"{len(came)} of 3 runs came")  # noqa: PLR2004 - as many as were asked for
    return "3 runs"


@FAILING.add("A consumer reports on a run with the token of its attempt, and onComplete is told of the end.")
def asynchronous_completion(stage: Stage) -> str:
    """Tokens that one function signs and another verifies."""
    queue, ends = stage.queues.make("async"), stage.queues.make("ends")
    path = stage.put("async", dueTime="1s", completion="async", target=queue.target, onComplete=ends.target)
    names = queue.one().names
    consumer, run = Client(stage.client.api_url, names["runToken"]), f"{path}/runs/{names['run']}"
    stage.run_of(path, "running")
    consumer.ask("POST", f"{run}/heartbeat")
    consumer.ask("POST", f"{run}/complete")
    end = json.loads(ends.one().body)
    expect(end["state"] == "succeeded", f"onComplete was told of {end['state']}")
    return "heartbeat, complete, and the end was told"


@FAILING.add("A job that names a queue outside TargetQueueArns is refused, in words that name the parameter.")
def queue_that_is_not_allowed(stage: Stage) -> str:
    """The API knows the list of queues that the role allows."""
    job = {"dueTime": "1s", "target": stage.queues.make_outside("not-allowed").target}
    answer = stage.client.call("PUT", stage.path("allowed", "job"), job)
    expect(answer.status == _INVALID, f"answered {answer.status}: {answer.body}")
    [error] = answer.body["errors"]
    expect("TargetQueueArns" in error["detail"], error["detail"])
    return str(error["detail"])


@FAILING.add("The sweep function may do what a sweep does.")
def sweeping(stage: Stage) -> str:
    """The check invokes sweep itself: tick invokes it only for 20,000 triggers a minute."""
    stage.aws.invoke(stage.physical("SweepFunction"), {"firstShard": 0})
    return "it returned without an error"


@FAILING.add(
    "IAM lets tick start the sweep function.",
    not_local=f"tick starts it for 20,000 triggers a minute only, and {_NO_SIMULATOR}",
)
def tick_may_start_sweepers(stage: Stage) -> str:
    """Asks IAM's simulator, because using the right would take 20,000 triggers."""
    function = stage.aws.client("lambda").get_function(FunctionName=stage.physical("SweepFunction"))
    alias = f"{function['Configuration']['FunctionArn']}:live"
    return _allowed(stage, "TickRole", {"lambda:InvokeFunction": alias})


@FAILING.add(
    "IAM lets tick audit the payload bucket.", not_local=f"tick audits once an hour, and {_NO_SIMULATOR}"
)
def tick_may_audit_payloads(stage: Stage) -> str:
    """Asks IAM's simulator, because the audit runs only once an hour."""
    bucket = stage.outputs["PayloadBucketName"]
    arn = f"arn:{stage.aws.session.get_partition_for_region(stage.aws.region)}:s3:::{bucket}"
    of_objects = ("s3:GetObject", "s3:GetObjectTagging", "s3:PutObject", "s3:PutObjectTagging")
    return _allowed(stage, "TickRole", {"s3:ListBucket": arn, **dict.fromkeys(of_objects, f"{arn}/any")})


@FAILING.add(
    "IAM lets deliver send to the queues of TargetQueueArns and to no other.",
    not_local=f"{_NO_SIMULATOR}; the API refuses such a job before IAM is asked",
)
def bounds_of_the_delivery_role(stage: Stage) -> str:
    """The role refuses the queue, whatever the code allows."""
    sqs, decisions = stage.aws.client("sqs"), []
    for queue in (stage.queues.make("any"), stage.queues.make_outside("not-allowed")):
        answer = sqs.get_queue_attributes(QueueUrl=queue.url, AttributeNames=["QueueArn"])
        arn = answer["Attributes"]["QueueArn"]
        decisions.append(_simulated(stage, "DeliverRole", "sqs:SendMessage", arn))
    expect(decisions == ["allowed", "implicitDeny"], f"IAM's simulator says {decisions}")
    return "IAM's simulator says allowed and implicitDeny"


def _allowed(stage: Stage, role: str, resources: dict[str, str]) -> str:
    """Show that the role may do each action on its resource."""
    decisions = {each: _simulated(stage, role, each, resource) for each, resource in resources.items()}
    expect(set(decisions.values()) == {"allowed"}, f"IAM's simulator says {decisions}")
    return "IAM's simulator says allowed"


def _simulated(stage: Stage, role: str, action: str, resource: str) -> str:
    iam = stage.aws.client("iam")
    arn = iam.get_role(RoleName=stage.physical(role))["Role"]["Arn"]
    answer = iam.simulate_principal_policy(PolicySourceArn=arn, ActionNames=[action], ResourceArns=[resource])
    [result] = answer["EvaluationResults"]
    return str(result["EvalDecision"])
