"""The requirements of a package: names, versions and conditions."""

import re

#: The variables of conditions. The platform is the one that scripts see.
ENVIRONMENT = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "wasm32",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": "3.14.0",
    "python_version": "3.14",
    "sys_platform": "wasi",
    "extra": "",
}


def split(requirement):
    """Splits a requirement into a name, a version specifier and a condition. Extras of the name are dropped."""
    text, _, marker = requirement.partition(";")
    found = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?([^()]*)\)?\s*$", text)
    if found is None:
        return text.strip(), "", marker.strip()
    return found[1], found[2].strip(), marker.strip()


def holds(marker):
    """Returns true if a condition holds. `and` binds more tightly than `or`, and parentheses group."""
    words = re.findall(r"\(|\)|<=|>=|==|!=|~=|<|>|'[^']*'|\"[^\"]*\"|[A-Za-z_.]+", marker)
    value, rest = _either(words)
    return value and not rest


def _either(words):
    value, words = _both(words)
    while words[:1] == ["or"]:
        other, words = _both(words[1:])
        value = value or other
    return value, words


def _both(words):
    value, words = _one(words)
    while words[:1] == ["and"]:
        other, words = _one(words[1:])
        value = value and other
    return value, words


def _one(words):
    if words[:1] == ["("]:
        value, words = _either(words[1:])
        return value, words[1:]
    if words[1:3] == ["not", "in"]:
        return _value(words[0]) not in _value(words[3]), words[4:]
    if words[1:2] == ["in"]:
        return _value(words[0]) in _value(words[2]), words[3:]
    left, operator, right = words[:3]
    if "version" in left or "version" in right:
        return version_matches(_value(left), operator + _value(right)), words[3:]
    return (_value(left) == _value(right)) == (operator == "=="), words[3:]


def _value(word):
    return word[1:-1] if word[0] in "'\"" else ENVIRONMENT.get(word, "")


def _numbers(version):
    found = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return [int(part) for part in found[1].split(".")] if found else []


def version_matches(version, specifier):
    """Returns true if a version matches a specifier such as `>=1.2,!=1.3.*`. A pre-release counts as its release."""
    return all(_matches(_numbers(version), version, part.strip()) for part in specifier.split(",") if part.strip())


def _matches(found, version, part):
    operator, wanted = re.match(r"(===|==|!=|<=|>=|~=|<|>)?\s*(.*)", part).groups()
    if operator == "===":
        return version == wanted
    numbers = _numbers(wanted)
    if wanted.endswith(".*"):
        return (found[: len(numbers)] == numbers) == (operator == "==")
    size = max(len(found), len(numbers))
    one, other = (part + [0] * (size - len(part)) for part in (found, numbers))
    if operator == "~=":
        return one >= other and found[: len(numbers) - 1] == numbers[:-1]
    compare = {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other, "!=": one != other}
    return compare.get(operator, one == other)
