#!/usr/bin/env python3
"""make_types.py: api/openapi.yaml as TypeScript, on the standard output; ./dev fmt keeps api/types.ts of it.

Every schema under components becomes an exported type of the same name, and every operation a member of
`Operations`, with what it takes and what it answers. Only what our document uses is understood; anything else
stops with a message rather than become a wrong type.
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import yaml_to_json  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
METHODS = ("get", "post", "put", "patch", "delete")
# These say nothing about the type.
IGNORED = {"description", "format", "minimum", "maximum", "minLength", "maxLength", "x-minBytes", "x-maxBytes", "maxItems",
           "pattern", "example", "not"}


def literal(value):
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else \
        "'" + value.replace("'", "\\'") + "'" if isinstance(value, str) else json.dumps(value)


def key(name):
    return str(name) if isinstance(name, int) or re.fullmatch(r"[A-Za-z_]\w*", name) else literal(name)


def indent(text, by="  "):
    return "\n".join(by + line if line else line for line in text.split("\n"))


def comment(text):
    lines = text.strip().split("\n") if text else []
    if len(lines) <= 1:
        return f"/** {lines[0]} */\n" if lines else ""
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def members(rows):
    """rows: (name, optional, type, description)."""
    return "{\n" + indent("\n".join(f"{comment(text)}{key(name)}{'?' if optional else ''}: {kind};"
                                    for name, optional, kind, text in rows)) + "\n}"


def known(schema, *keywords):
    unknown = set(schema) - set(keywords) - IGNORED
    if unknown:
        sys.exit(f"make_types.py does not understand {', '.join(sorted(unknown))} in {json.dumps(schema)}")


def union(kinds):
    kinds = list(dict.fromkeys(kinds))
    return " | ".join(f"({kind})" if " & " in kind and len(kinds) > 1 else kind for kind in kinds)


def array_of(kind):
    return f"({kind})[]" if " | " in kind or " & " in kind else f"{kind}[]"


def object_type(schema):
    known(schema, "type", "required", "properties", "additionalProperties", "propertyNames", "x-events")
    required = schema.get("required", [])
    if isinstance(schema.get("additionalProperties"), dict):
        names = type_of(schema.get("propertyNames", {"type": "string"}))
        return f"Record<{names}, {type_of(schema['additionalProperties'])}>"
    if "properties" not in schema:
        return "Record<string, unknown>"
    return members((name, name not in required, type_of(part), part.get("description"))
                   for name, part in schema["properties"].items())


def narrowing_type(schema):
    """The second half of an allOf: it names members that the first has already, and narrows or requires them."""
    known(schema, "required", "properties")
    return "{ " + "; ".join(f"{key(name)}: {type_of(part)}" for name, part in schema.get("properties", {}).items()) + " }"


def all_of(schema):
    base, *rest = schema["allOf"]
    base_type = type_of(base)
    required = [name for part in rest for name in part.get("required", [])]
    parts = [base_type, *(narrowing_type(part) for part in rest)]
    if required:
        parts.append(f"Required<Pick<{base_type}, {union(literal(name) for name in required)}>>")
    return " & ".join(parts)


def type_of(schema):
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "allOf" in schema:
        known(schema, "allOf")
        return all_of(schema)
    if "oneOf" in schema:
        known(schema, "oneOf")
        return union(type_of(part) for part in schema["oneOf"])
    if "const" in schema:
        known(schema, "type", "const")
        return literal(schema["const"])
    if "enum" in schema:
        known(schema, "type", "enum")
        return union(literal(value) for value in schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if kinds == ["object"]:
        return object_type(schema)
    if kinds == ["array"]:
        known(schema, "type", "items")
        return array_of(type_of(schema["items"]))
    known(schema, "type", "x-events")
    return union(SCALARS[kind] for kind in kinds)


def schema_declaration(name, schema):
    kind = type_of(schema)
    text = comment(schema.get("description"))
    if kind.startswith("{"):
        return f"{text}export interface {name} {kind}"
    if "enum" in schema and len(kind) > 80:
        kind = "".join(f"\n  | {literal(value)}" for value in schema["enum"])
        return f"{text}export type {name} ={kind};"
    return f"{text}export type {name} = {kind};"


class Document:
    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        while "$ref" in node:
            target = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node

    def parameters(self, operation, place):
        rows = [self.resolve(parameter) for parameter in operation.get("parameters", [])]
        rows = [(row["name"], not row.get("required", False), type_of(row["schema"]), row.get("description"))
                for row in rows if row["in"] == place]
        if place == "header":
            ways = [name for each in operation.get("security", []) for name in each]
            for scheme in ways:
                row = self.document["components"]["securitySchemes"][scheme]
                may_be_cookie = scheme == "bearerAuth"
                rows.append((row.get("name", "Authorization"), may_be_cookie or len(ways) > 1, "string",
                             row.get("description")))
        return rows

    def content_type(self, node):
        """The type of a body; undefined where there is none."""
        return union(type_of(media["schema"]) for media in self.resolve(node).get("content", {}).values()) or "undefined"

    def operation(self, path, method, operation):
        rows = [("method", False, literal(method.upper()), None), ("path", False, literal(path), None)]
        for place, name in (("path", "params"), ("query", "query"), ("header", "headers")):
            found = self.parameters(operation, place)
            if found:
                rows.append((name, all(optional for _, optional, _, _ in found), members(found), None))
        if "requestBody" in operation:
            body = self.resolve(operation["requestBody"])
            rows.append(("body", not body.get("required", False), self.content_type(body), None))
        answers = members((int(status), False, self.content_type(answer), self.resolve(answer)["description"])
                          for status, answer in operation["responses"].items())
        rows.append(("answers", False, answers, None))
        return operation["operationId"], False, members(rows), operation["summary"]

    def operations(self):
        return members(self.operation(path, method, item[method]) for path, item in self.document["paths"].items()
                       for method in METHODS if method in item)

    def anywhere(self):
        return members((int(status), False, self.content_type(answer), self.resolve(answer)["description"])
                       for status, answer in self.document["x-anywhere"].items())


def types(document):
    schemas = document["components"]["schemas"]
    whole = Document(document)
    return "\n\n".join([
        "// Made by ./dev fmt from api/openapi.yaml.",
        *(schema_declaration(name, schema) for name, schema in schemas.items()),
        comment("What each operation takes and what it answers, by status.") + f"export interface Operations {whole.operations()}",
        comment("What any address may answer beside that.") + f"export interface Anywhere {whole.anywhere()}",
    ]) + "\n"


def main():
    print(types(yaml_to_json.read(ROOT / "api" / "openapi.yaml")), end="")


if __name__ == "__main__":
    main()
