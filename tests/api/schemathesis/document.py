"""api/openapi.yaml as Schemathesis understands it: the document for one identity, with what ours says in its own way.

- `x-anywhere` lists once what any address may answer; here every operation has it among its own responses.
- A header that a response names is always there; OpenAPI says that with `required`.
- An identity asks for the operations that are its own, and sends the headers that mean something from it: X-User-Id
  always, where nothing else names it.
"""

import copy

# Headers that name somebody, and mean nothing from anybody else: a token wins over X-User-Id, and a number is believed from
# the gateway only.
NAMING = {"X-User-Id", "X-Fcfs-Seq", "X-Gateway-Token"}
METHODS = ("get", "post", "put", "patch", "delete")


def resolve(document, node):
    while "$ref" in node:
        target = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def operations(document):
    """(path, method, operation) of each."""
    return [(path, method, item[method]) for path, item in document["paths"].items() for method in METHODS if method in item]


def security_of(operation):
    """The ways to prove oneself: {"adminToken", "bearerAuth"}; none for a public operation."""
    return {name for way in operation.get("security", []) for name in way}


def parameter_names(operation):
    """Once its parameters are resolved."""
    return {one["name"] for one in operation["parameters"]}


def is_endless(document, operation):
    """Event streams never end, so a tool that waits for the end of an answer cannot read them."""
    content = resolve(document, operation["responses"].get("200", {})).get("content", {})
    return "text/event-stream" in content


def with_required_headers(document, headers, required):
    return {name: {**resolve(document, header), "required": name in required} for name, header in headers.items()}


def merged_response(document, own, anywhere):
    """One response that is either of the two."""
    own, anywhere = resolve(document, own), resolve(document, anywhere)
    always = set(own.get("headers", {})) & set(anywhere.get("headers", {}))
    merged = {
        "description": f"{own['description'].strip()} Or, anywhere: {anywhere['description'].strip()}",
        "headers": with_required_headers(document, {**anywhere.get("headers", {}), **own.get("headers", {})}, always),
        "content": dict(anywhere.get("content", {})),
    }
    for media_type, media in own.get("content", {}).items():
        schemas = [each["schema"] for each in (media, merged["content"].get(media_type)) if each]
        merged["content"][media_type] = {"schema": {"anyOf": schemas} if len(schemas) > 1 else schemas[0]}
    return merged


def with_anywhere(document, responses):
    result = {}
    for status in sorted({*responses, *document["x-anywhere"]}):
        own, anywhere = responses.get(status), document["x-anywhere"].get(status)
        if own and anywhere:
            result[status] = merged_response(document, own, anywhere)
        else:
            only = copy.deepcopy(resolve(document, own or anywhere))
            only["headers"] = with_required_headers(document, only.get("headers", {}), set(only.get("headers", {})))
            result[status] = only
    return result


def for_identity(document, identity):
    """The document, and the operationIds of those operations that are this identity's. The others stay in it, so that their
    methods are not taken for unknown ones."""
    result = copy.deepcopy(document)
    own = []
    for _, _, operation in operations(result):
        operation["parameters"] = [copy.deepcopy(resolve(document, one)) for one in operation.get("parameters", [])]
        operation["responses"] = with_anywhere(document, operation["responses"])
        if identity.chosen(operation) and not is_endless(document, operation):
            own.append(operation["operationId"])
        operation["parameters"] = [one for one in operation["parameters"]
                                   if one["name"] not in NAMING or one["name"] in identity.sends]
        for parameter in operation["parameters"]:
            if parameter["name"] == "X-User-Id":
                parameter["required"] = True
    return result, own
