"""A Java test of a finding in the form that upstream's suite takes: TestNG for Pulsar, JUnit 5 for others.

`entrycache findings NAME FILE --upstream-form` prints it. It is made of the stand-alone file, so that there is one test
of each thing: `main` becomes a test, its expectations become assertions, and the lines that end the JVM go.
"""

from __future__ import annotations

import re
from typing import Final

from entrycache_protocol.errors import UsageError

JUNIT: Final = "org.junit.jupiter.api"
TESTNG: Final = "org.testng"
_END_OF_MAIN: Final = re.compile(
    r"^ *(?:System\.out\.(?:println\(\"conforms\"\)|flush\(\))|Runtime\.getRuntime\(\)\.halt\(.*\));\n", re.M
)
_VERDICT: Final = re.compile(r"System\.out\.println\(([\w.()]+) \? \"conforms\" : (.+)\);")
_HELPER: Final = r"    private static void {name}\({parameters}\) \{{\n(?:        .*\n)*    \}}\n"


def upstream_form(text: str, is_junit: bool) -> str:
    """Return the text of a stand-alone Java test as a test of upstream's suite.

    Raises:
        UsageError: the text has no class that is called after its test.
    """
    of_names = ("String what, Object expected, Object got", "String message")
    expected = "assertEquals(expected, got, what)" if is_junit else "assertEquals(got, expected, what)"
    for name, parameters, body in (
        ("conforms", "", ""),
        ("expect", of_names[0], f"{expected};"),
        ("fail", of_names[1], "throw new AssertionError(message);"),
    ):
        helper = f"    private static void {name}({parameters}) {{\n        {body}\n    }}\n" if body else ""
        text = re.sub(_HELPER.format(name=name, parameters=parameters), lambda _: helper, text)  # noqa: B023
    text = _VERDICT.sub(r"assertTrue(\1, \2);", text)
    text = _END_OF_MAIN.sub("", text)
    text = re.sub(r"^ *conforms\(\);\n", "", text, flags=re.MULTILINE)
    text = re.sub(r" \* Class path CP:.*?(?= \*/)", "", text, flags=re.DOTALL).replace(" *\n */", " */")
    stem = re.search(r"public final class (\w+)Test ", text)
    if stem is None:
        raise UsageError("no stand-alone test: expected `public final class NAMETest`")
    method = stem[1][0].lower() + stem[1][1:]
    text = text.replace("public static void main(String[] arguments)", f"@Test\n    public void {method}()")
    text = text.replace("public final class", "public class", 1)
    return _with_imports(text, is_junit)


def _with_imports(text: str, is_junit: bool) -> str:
    test, assertions = (
        (f"{JUNIT}.Test", f"{JUNIT}.Assertions") if is_junit else (f"{TESTNG}.annotations.Test", f"{TESTNG}.Assert")
    )
    used = [name for name in ("assertEquals", "assertTrue") if f"{name}(" in text]
    lines = "".join(f"import static {assertions}.{name};\n" for name in used) + f"\nimport {test};\n"
    package, _, rest = text.partition(";\n\n")
    return f"{package};\n\n{lines}{rest}"
