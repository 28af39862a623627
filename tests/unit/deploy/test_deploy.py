"""`sweephand deploy`: what a person sees, what AWS is asked, and what becomes of failures."""

import pytest
from tests.unit.deploy.conftest import Account, Step, change, event, refusal

from sweephand_deploy.deploy import Order, deploy, session_of
from sweephand_deploy.errors import InputError, RefusedError, UnreachableError

ORDER = Order("sweephand")


def deployed(account: Account, order: Order = ORDER) -> bool:
    return deploy(account.session, order, account.talk)


def test_a_new_stack_is_made_after_a_question(account: Account) -> None:
    cloud = account.cloudformation
    cloud.change_set["Changes"] = [change("Add", "JobsTable", "AWS::DynamoDB::Table")]
    created = (event("JobsTable", "CREATE_IN_PROGRESS"), event("JobsTable", "CREATE_COMPLETE"))
    cloud.steps = [Step("CREATE_IN_PROGRESS", created[:1]), Step("CREATE_COMPLETE", created[1:])]

    assert deployed(account, Order("sweephand", {"LogLevel": "DEBUG"}, role_arn="arn:role"))

    asked = cloud.asked("create_change_set")
    assert (asked["ChangeSetType"], asked["OnStackFailure"]) == ("CREATE", "DELETE")
    assert asked["Parameters"] == [{"ParameterKey": "LogLevel", "ParameterValue": "DEBUG"}]
    assert asked["Capabilities"] == ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    assert asked["RoleARN"] == "arn:role"
    bucket = "https://s3.eu-west-1.amazonaws.com/sweephand-code-123456789012-eu-west-1/template-"
    assert asked["TemplateURL"].startswith(bucket)
    assert account.questions == ["Create the stack sweephand in eu-west-1?"]
    assert "  + added            JobsTable                           AWS::DynamoDB::Table" in account.said
    assert "[  1 of 1] CREATE_COMPLETE             JobsTable" in account.said
    assert account.said[-1] == "ApiUrl                 https://api"


def test_the_template_names_the_code_that_was_uploaded(account: Account) -> None:
    account.answer = False
    deployed(account)

    properties = account.template()["Resources"]["ApiFunction"]["Properties"]
    assert properties["CodeUri"] == "s3://sweephand-code-123456789012-eu-west-1/ApiFunction-1.zip"
    assert account.s3.objects["ApiFunction-1.zip"] == b"functions/api"
    assert "Uploaded 11 of 11 zips" in account.said[1]


def test_code_that_is_there_is_not_uploaded_again(account: Account) -> None:
    account.answer = False
    deployed(account)
    deployed(account)
    assert "Uploaded 0 of 11 zips" in next(line for line in reversed(account.said) if "zips" in line)


def test_an_update_keeps_the_parameters_that_are_not_named(account: Account) -> None:
    cloud = account.cloudformation
    cloud.has("UPDATE_COMPLETE", ["Enabled", "LogLevel", "OfAnOlderVersion"])
    cloud.steps = [Step("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), Step("UPDATE_COMPLETE")]

    assert deployed(account, Order("sweephand", {"Enabled": "false"}))

    asked = cloud.asked("create_change_set")
    assert (asked["ChangeSetType"], "OnStackFailure" in asked) == ("UPDATE", False)
    assert asked["Parameters"] == [
        {"ParameterKey": "Enabled", "ParameterValue": "false"},
        {"ParameterKey": "LogLevel", "UsePreviousValue": True},
    ]
    assert account.questions == ["Change the stack sweephand in eu-west-1?"]


def test_what_could_be_lost_is_said_last_and_loudly(account: Account) -> None:
    cloud = account.cloudformation
    cloud.has("CREATE_COMPLETE")
    account.answer = False
    table, alias = "AWS::DynamoDB::Table", "AWS::Lambda::Alias"
    cloud.change_set |= {"Changes": [change("Modify", "JobsTable", table, "True")], "NextToken": "0"}
    cloud.pages = [
        {
            "Changes": [
                change("Remove", "FlowQueue", "AWS::SQS::Queue"),
                change("Modify", "TickAlias", alias, "Conditional"),
                change("Modify", "TimersTable", table, "False"),
            ]
        }
    ]

    deployed(account)

    assert account.said[2:] == [
        "  ~ changed          TimersTable                         AWS::DynamoDB::Table",
        "  ~ perhaps replaced TickAlias                           AWS::Lambda::Alias",
        "  - removed          FlowQueue                           AWS::SQS::Queue",
        "  ! replaced         JobsTable                           AWS::DynamoDB::Table",
        "1 changed, 1 perhaps replaced, 1 removed, 1 replaced",
        "!!! REPLACED: JobsTable (AWS::DynamoDB::Table)",
        "!!! REMOVED: FlowQueue (AWS::SQS::Queue)",
    ]


def test_a_person_who_says_no_has_the_stack_as_it_was(account: Account) -> None:
    account.cloudformation.has("CREATE_COMPLETE")
    account.answer = False
    assert not deployed(account)
    assert [name for name, _ in account.cloudformation.calls] == ["create_change_set", "delete_change_set"]


def test_nothing_of_a_new_stack_is_left_after_a_no(account: Account) -> None:
    account.answer = False
    assert not deployed(account)
    assert account.cloudformation.calls[-1][0] == "delete_stack"


def test_a_change_set_can_be_left_to_somebody_else(account: Account) -> None:
    assert deployed(account, Order("sweephand", executes=False))
    assert account.said[-1] == "aws cloudformation execute-change-set --change-set-name arn:change-set"
    assert account.questions == []
    assert [name for name, _ in account.cloudformation.calls] == ["create_change_set"]


@pytest.mark.parametrize(
    "reason",
    [
        "The submitted information didn't contain changes. Submit different information.",
        "No updates are to be performed.",
    ],
)
def test_a_stack_that_is_up_to_date_is_left_alone(account: Account, reason: str) -> None:
    account.cloudformation.has("CREATE_COMPLETE")
    account.cloudformation.change_set = {"Status": "FAILED", "StatusReason": reason}
    assert deployed(account)
    assert "Nothing changes" in account.said[-2]
    assert account.questions == []


def test_a_refused_change_set_is_shown_with_its_reason(account: Account) -> None:
    account.cloudformation.change_set = {"Status": "FAILED", "StatusReason": "Transform failed: no such type"}
    with pytest.raises(RefusedError, match=r"refused the change set: Transform failed: no such type"):
        deployed(account)


def test_each_failure_is_shown_with_its_resource_and_reason(account: Account) -> None:
    cloud = account.cloudformation
    failed = [
        event("FlowQueue", "CREATE_FAILED", "Access denied for operation 'sqs:CreateQueue'"),
        event("JobsTable", "CREATE_FAILED", "Resource creation cancelled"),
    ]
    cloud.steps = [
        Step("CREATE_IN_PROGRESS", failed),
        Step("DELETE_COMPLETE", [event("sweephand", "DELETE_COMPLETE")]),
    ]
    with pytest.raises(RefusedError) as caught:
        deployed(account)
    assert str(caught.value).splitlines() == [
        "The stack is now DELETE_COMPLETE.",
        "  FlowQueue (AWS::SQS::Queue): Access denied for operation 'sqs:CreateQueue'",
    ]


def test_a_lost_connection_is_taken_up_again_and_shows_each_event_once(account: Account) -> None:
    cloud = account.cloudformation
    cloud.steps = [
        Step("CREATE_IN_PROGRESS", [event("FlowQueue", "CREATE_IN_PROGRESS")]),
        *[Step("", is_lost=True)] * 3,
        Step("CREATE_COMPLETE", [event("FlowQueue", "CREATE_COMPLETE")]),
    ]
    assert deployed(account)
    assert sum("connection is lost" in line for line in account.said) == 1
    assert [line.split()[0] for line in account.said if "FlowQueue" in line] == [
        "CREATE_IN_PROGRESS",
        "CREATE_COMPLETE",
    ]


def test_a_connection_that_does_not_come_back_ends_the_command(account: Account) -> None:
    account.cloudformation.steps = [Step("", is_lost=True)] * 200
    with pytest.raises(UnreachableError, match="Run the command again"):
        deployed(account)
    assert account.waited_s == 900


def test_a_command_given_again_follows_what_is_going_on_first(account: Account) -> None:
    cloud = account.cloudformation
    cloud.has("UPDATE_IN_PROGRESS")
    done = [event("FlowQueue", "UPDATE_COMPLETE")]
    cloud.steps = [Step("UPDATE_IN_PROGRESS"), Step("UPDATE_COMPLETE", done)]
    cloud.change_set = {"Status": "FAILED", "StatusReason": "No updates are to be performed."}
    assert deployed(account)
    assert "CloudFormation is at work" in account.said[0]
    assert "UPDATE_COMPLETE             FlowQueue" in account.said[1]


def test_a_stack_that_cannot_be_changed_is_told(account: Account) -> None:
    account.cloudformation.has("ROLLBACK_COMPLETE")
    with pytest.raises(RefusedError, match=r"is ROLLBACK_COMPLETE and cannot be changed.*sweephand destroy"):
        deployed(account)


def test_an_unknown_parameter_is_told_before_anything_is_asked_of_aws(account: Account) -> None:
    with pytest.raises(InputError, match=r"no parameter LogLvel\. Is it LogLevel\?"):
        deployed(account, Order("sweephand", {"LogLvel": "DEBUG"}))
    with pytest.raises(InputError, match=r"no parameter Xyz\. docs/parameters\.md lists them"):
        deployed(account, Order("sweephand", {"Xyz": "1"}))
    assert account.cloudformation.calls == []


def test_a_refusal_of_aws_names_the_operation(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise refusal(
            "AccessDenied",
            "not authorized to perform cloudformation:CreateChangeSet",
            operation="CreateChangeSet",
        )

    monkeypatch.setattr(account.cloudformation, "create_change_set", refuse)
    with pytest.raises(
        RefusedError, match=r"AWS refused CreateChangeSet: not authorized .* \(AccessDenied\)"
    ):
        deployed(account)


def test_a_region_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    assert session_of("eu-west-3").region_name == "eu-west-3"
    with pytest.raises(InputError, match="Name the region"):
        session_of("")
    monkeypatch.setenv("AWS_PROFILE", "none-of-this-name")
    with pytest.raises(InputError, match="none-of-this-name"):
        session_of("eu-west-3")
