"""What CloudFormation deploys of a template with certain parameters."""

from typing import Any, Final

from tests.template.stack import Stack, references

_NOTHING: Final = {"Ref": "AWS::NoValue"}


class Deployed:
    """The template as CloudFormation evaluates it with these parameters: what is there, and how.

    It knows the functions that the template uses in its conditions and rules, and refuses any other.
    """

    def __init__(self, stack: Stack, **parameters: str) -> None:
        self._template = template = stack.template
        unknown = parameters.keys() - template["Parameters"].keys()
        assert not unknown, f"the template has no parameters {sorted(unknown)}"
        defaults = {name: each.get("Default") for name, each in template["Parameters"].items()}
        self._parameters: dict[str, Any] = defaults | parameters

    def refusals(self) -> list[str]:
        """What the rules of the template say against these values."""
        return [
            assertion["AssertDescription"]
            for rule in self._template["Rules"].values()
            if self._holds(rule["RuleCondition"])
            for assertion in rule["Assertions"]
            if not self._holds(assertion["Assert"])
        ]

    def named(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of the deployed resources of a type, by name, with their conditions evaluated."""
        return {
            name: self._evaluated(resource.get("Properties", {}))
            for name, resource in self._template["Resources"].items()
            if resource["Type"] == kind and self._is_there(resource)
        }

    def resources(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The type and the properties of each deployed resource, with their conditions evaluated."""
        return {
            name: (resource["Type"], self._evaluated(resource.get("Properties", {})))
            for name, resource in self._template["Resources"].items()
            if self._is_there(resource)
        }

    def parameter(self, name: str) -> Any:
        """The value of a parameter."""
        return self._parameters[name]

    def names(self) -> set[str]:
        """The names of all deployed resources."""
        return {name for name, each in self._template["Resources"].items() if self._is_there(each)}

    def outputs(self) -> set[str]:
        """The names of the outputs."""
        return {name for name, each in self._template["Outputs"].items() if self._is_there(each)}

    def output(self, name: str) -> Any:
        """The value of an output, with its conditions evaluated."""
        return self._evaluated(self._template["Outputs"][name]["Value"])

    def missing(self) -> set[tuple[str, str]]:
        """References of deployed resources and outputs to what is not deployed."""
        entries = [*self._template["Resources"].items(), *self._template["Outputs"].items()]
        absent = self._template["Resources"].keys() - self.names()
        found = set()
        for name, entry in entries:
            if self._is_there(entry):
                body = entry.get("Properties", entry.get("Value"))
                named = set(references(self._evaluated(body)))
                found |= {(name, each) for each in named & absent}
        return found

    def _is_there(self, entry: dict[str, Any]) -> bool:
        name = entry.get("Condition")
        return name is None or self._holds({"Condition": name})

    def _holds(self, value: Any) -> bool:
        match value:
            case {"Condition": str(name)}:
                return self._holds(self._template["Conditions"][name])
            case {"Fn::Equals": [left, right]}:
                return bool(str(self._valued(left)) == str(self._valued(right)))
            case {"Fn::Not": [inner]}:
                return not self._holds(inner)
            case {"Fn::And": list(inner)}:
                return all(map(self._holds, inner))
            case {"Fn::Or": list(inner)}:
                return any(map(self._holds, inner))
        raise AssertionError(f"no condition: {value}")

    def _valued(self, value: Any) -> Any:
        match value:
            case {"Ref": str(name)}:
                return self._parameters[name]
            case {"Fn::Join": [str(separator), listed]}:
                return separator.join(str(self._valued(listed)).split(","))
        return value

    def _evaluated(self, value: Any) -> Any:
        """The value without its conditions. What they leave out is left out."""
        match value:
            case {"Fn::If": [str(condition), then, otherwise]}:
                return self._evaluated(then if self._holds({"Condition": condition}) else otherwise)
            case dict():
                found = {name: self._evaluated(each) for name, each in value.items()}
                return {name: each for name, each in found.items() if each != _NOTHING}
            case list():
                return [found for each in value if (found := self._evaluated(each)) != _NOTHING]
        return value
