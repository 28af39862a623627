"""The API keys in the console: who made which, and the dialogs that make, rotate and revoke one."""

from collections.abc import Callable

from playwright.sync_api import expect
from tests.contract.builders import admin_change
from tests.integration.console.conftest import Console, Town

from sweephand.model.api_key import Key

Open = Callable[..., Console]


def test_a_new_key_is_shown_once_and_then_listed_without_its_secret(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_label("Role", exact=True).select_option("write")
    page.get_by_label("Expires after").fill("ninety days")
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    wrong = page.locator(".field").filter(has_text="Expires after").get_by_role("alert")
    expect(wrong).to_contain_text("duration")
    page.get_by_label("Expires after").fill("90d")
    page.get_by_label("Description").fill("for the pipeline")
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    shown = page.get_by_role("region", name="The new key").inner_text()
    row = page.get_by_role("row").filter(has_text="for the pipeline")
    expect(row).to_contain_text("write")
    page.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_role("region", name="The new key")).to_have_count(0)
    key_id = shown.split("_")[1]
    stored = town.api.keys.get(key_id)
    assert stored is not None
    assert (stored.namespace, stored.role) == ("ns", "write")
    assert shown not in page.content()


def test_a_key_is_rotated_and_revoked(open_console: Open, town: Town) -> None:
    town.api.keys.put(Key("k1", "0" * 64, "ns", "read", 0), admin_change())
    page = open_console().show("ns/keys")
    page.get_by_role("button", name="Rotate k1").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    expect(page.get_by_role("region", name="The new key")).to_be_visible()
    expect(page.get_by_text("replaced by")).to_be_visible()
    page.get_by_role("button", name="Revoke k1").click()
    page.get_by_label("Type k1 to confirm").fill("k1")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("button", name="Revoke k1")).to_have_count(0)
    assert town.api.keys.get("k1") is None


def test_only_an_admin_is_offered_the_keys(open_console: Open) -> None:
    page = open_console(key="sh_writer").show("ns/keys")
    expect(page.get_by_text("This screen needs a key with the role admin.")).to_be_visible()
    assert page.get_by_role("link", name="Keys").count() == 0


def test_a_key_stands_below_its_maker_and_the_dialog_names_what_ends_with_it(
    open_console: Open, town: Town
) -> None:
    made = [
        ("zz-root", "operator", None),
        ("bb-service", "zz-root", None),
        ("aa-robot", "bb-service", "cc-robot"),
        ("cc-robot", "k0", None),
        ("dd-other", "someone-gone", None),
    ]
    for name, maker, replaced_by in made:
        key = Key(name, "0" * 64, "ns", "admin", 0, created_by=maker, replaced_by=replaced_by)
        town.api.keys.put(key, admin_change())
    page = open_console().show("ns/keys")
    rows = page.get_by_role("group", name="Keys").locator("tbody tr")
    ids = [each.locator("td.name code").first.inner_text() for each in rows.all()]
    assert ids.index("zz-root") + 1 == ids.index("bb-service") == ids.index("aa-robot") - 1
    assert ids.index("k0") + 1 == ids.index("cc-robot")
    expect(rows.nth(ids.index("aa-robot"))).to_contain_text("by bb-service")
    expect(rows.nth(ids.index("aa-robot")).locator("td.depth-2")).to_be_visible()
    expect(rows.nth(ids.index("zz-root"))).to_contain_text("by the operator of the stack")
    expect(rows.nth(ids.index("dd-other"))).to_contain_text("by someone-gone, which is not listed")
    page.get_by_role("button", name="Revoke zz-root").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("3 other keys end with it:")
    assert sorted(dialog.get_by_role("listitem").locator("code").all_inner_texts()) == [
        "aa-robot",
        "bb-service",
        "cc-robot",
    ]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Revoke aa-robot").click()
    expect(dialog).to_contain_text("No other key ends with it.")


def test_a_key_can_have_a_rate(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_label("Requests a minute").fill("60")
    page.get_by_label("Description").fill("slow")
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    expect(page.get_by_role("row").filter(has_text="slow")).to_contain_text("60 requests a minute")
    shown = page.get_by_role("region", name="The new key").inner_text()
    stored = town.api.keys.get(shown.split("_")[1])
    assert stored is not None
    assert stored.requests_per_minute == 60
