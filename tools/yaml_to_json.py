#!/usr/bin/env python3
"""yaml_to_json.py INPUT.yaml OUTPUT.json: the OpenAPI document as the server hands it out.

Stricter than YAML: a key that appears twice is an error, and nothing turns into a date by its looks.
"""

import json
import sys

import yaml


class StrictLoader(yaml.SafeLoader):
    pass


def construct_mapping(loader, node):
    mapping = {}
    for key_node, value_node in node.value:
        key = str(loader.construct_object(key_node, deep=True))
        if key in mapping:
            raise yaml.constructor.ConstructorError(None, None, f"{key!r} appears twice", key_node.start_mark)
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


StrictLoader.add_constructor("tag:yaml.org,2002:map", construct_mapping)
StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(source):
    with open(source, encoding="utf-8") as file:
        try:
            return yaml.load(file, StrictLoader)
        except yaml.YAMLError as error:
            sys.exit(f"{source}: {error}")


def main():
    source, target = sys.argv[1:]
    document = read(source)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
