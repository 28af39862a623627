"""The secrets of a namespace in the console: those that jobs name, and what signs deliveries."""

from collections.abc import Callable
from typing import Final

from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town

Open = Callable[..., Console]

SIGNING: Final = "/v1/namespaces/ns/signing-secrets"
KEYS: Final = "/v1/namespaces/ns/signing-keys"


def signing(town: Town) -> list[str]:
    """The signing secrets, newest first."""
    return [each["secret"] for each in town.api.send("GET", SIGNING).json["items"]]


def test_a_secret_is_made_replaced_and_deleted_and_its_value_is_nowhere(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/secrets")
    page.get_by_role("button", name="New secret").click()
    page.get_by_label("Name", exact=True).fill("api-token")
    page.get_by_label("Value", exact=True).fill("Bearer \u00e9t\u00e9")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    wrong = page.locator(".field").filter(has_text="Value").get_by_role("alert")
    expect(wrong).to_contain_text("ASCII")
    page.get_by_label("Value", exact=True).fill("Bearer 3f9c1d")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("row").filter(has_text="api-token")).to_be_visible()
    assert "3f9c1d" not in page.content()
    page.get_by_role("button", name="Replace api-token").click()
    page.get_by_label("Value", exact=True).fill("Bearer 77aa")
    page.get_by_role("dialog").get_by_role("button", name="Replace").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Delete api-token").click()
    page.get_by_label("Type api-token to confirm").fill("api-token")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No secrets in ns yet.")).to_be_visible()
    assert town.api.send("GET", "/v1/namespaces/ns/secrets").json["items"] == []


def test_a_signing_secret_is_hidden_until_somebody_shows_it(open_console: Open, town: Town) -> None:
    [secret] = signing(town)
    page = open_console().show("ns/secrets")
    expect(page.get_by_role("group", name="Signing secrets")).to_contain_text("newest")
    assert secret not in page.content()
    page.get_by_role("button", name="Show secret 1").click()
    expect(page.get_by_role("region", name="The signing secret")).to_have_text(secret)
    page.get_by_role("button", name="Hide secret 1").click()
    assert secret not in page.content()


def test_signing_secrets_are_rotated_and_the_old_ones_ended(open_console: Open, town: Town) -> None:
    [first] = signing(town)
    page = open_console().show("ns/secrets")
    rows = page.get_by_role("group", name="Signing secrets").locator("tbody tr")
    expect(page.get_by_role("button", name="End the old ones")).to_have_count(0)
    page.get_by_role("button", name="Rotate", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    expect(rows).to_have_count(2)
    assert signing(town)[1] == first
    page.get_by_role("button", name="End the old ones").click()
    page.get_by_role("dialog").get_by_role("button", name="End them").click()
    expect(rows).to_have_count(1)
    assert first not in signing(town)


def test_a_leaked_signing_secret_ends_now_also_while_three_sign(open_console: Open, town: Town) -> None:
    for _ in range(2):
        assert town.api.send("POST", SIGNING).status == 200
    before = signing(town)
    page = open_console().show("ns/secrets")
    rows = page.get_by_role("group", name="Signing secrets").locator("tbody tr")
    expect(rows).to_have_count(len(before))
    page.get_by_role("button", name="A secret has leaked").click()
    page.get_by_label("Type ns to confirm").fill("ns")
    page.get_by_role("dialog").get_by_role("button", name="Replace them").click()
    expect(rows).to_have_count(1)
    [present] = signing(town)
    assert present not in before


def test_an_ed25519_key_is_made_rotated_and_ended(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/secrets")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    keys = page.get_by_role("region", name="A public key")
    expect(keys).to_have_count(1)
    [public] = town.api.send("GET", KEYS).json["items"]
    expect(keys).to_have_text(public["key"])
    page.get_by_role("button", name="Rotate the key").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    expect(keys).to_have_count(2)
    page.get_by_role("button", name="End these signatures").click()
    page.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(page.get_by_text("No key signs by ed25519.")).to_be_visible()
    assert town.api.send("GET", KEYS).json["items"] == []


def test_only_an_admin_is_offered_the_secrets(open_console: Open) -> None:
    page = open_console(key="sh_writer").show("ns/secrets")
    expect(page.get_by_text("This screen needs a key with the role admin.")).to_be_visible()
    assert page.get_by_role("link", name="Secrets").count() == 0
