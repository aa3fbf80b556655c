"""What Schemathesis cannot read in the document, told to it. Loaded by SCHEMATHESIS_HOOKS."""

import schemathesis
from schemathesis.core import NOT_SET

INT64_MOST = 2**63 - 1

# Refusals of requests that are well formed: they name something that must exist, as 404 and 409 do, but are 400.
# POST /auth/register: a verification that another service has told of.
REFUSED_BY_STATE = {"identity_unverified"}

# Server errors that are the contract: a gateway that sends its secret without a usable number has lost its Redis, and is
# told to try again. The older contract says it as 500.
GATEWAY_WITHOUT_NUMBER = {"sequence_unavailable", "internal error"}


def text_that_fits(text, schema):
    """Limits of text are bytes, while a schema counts characters."""
    least, most = schema.get("x-minBytes", 0), schema.get("x-maxBytes")
    if most is not None:
        text = text.encode()[:most].decode(errors="ignore")
    return text + "a" * (least - len(text.encode()))


def value_that_fits(value, schema):
    if isinstance(value, str):
        return text_that_fits(value, schema)
    if isinstance(value, float) and value.is_integer() and "integer" in schema.get("type", ()):
        value = int(value)  # JSON Schema takes 5.0 for an integer
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-INT64_MOST, min(value, INT64_MOST))  # also in members that nobody knows
    if isinstance(value, list):
        return [value_that_fits(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict):
        members = schema.get("properties", {})
        return {name: value_that_fits(item, members.get(name, {})) for name, item in value.items()}
    return value


def body_schema(operation):
    content = operation.definition.raw.get("requestBody", {}).get("content", {})
    node = content.get("application/json", {}).get("schema", {})
    while "$ref" in node:
        node = operation.schema.raw_schema["components"]["schemas"][node["$ref"].rsplit("/", 1)[1]]
    return node


def name_one_house(case):
    """A reset names its house in the query or in the body, and the same one if in both: no schema says that."""
    schedule = case.query.pop("scheduleId", None) or case.body.get("scheduleId") or "friday"
    case.body["scheduleId"] = schedule


def give_a_password(case):
    """Whoever erases an account that has a password must give it; one that signs in with Google has none to give."""
    given = {} if case.body is NOT_SET else case.body
    case.body = {**given, "password": given.get("password") or "not the right one"}


# By operationId: what of a request that is taken only words can say.
IN_WORDS = {"resetHouse": name_one_house, "eraseAccount": give_a_password}


@schemathesis.hook
def map_case(context, case):
    """A request that ought to be taken is made one that is, where only words tell what is taken."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    for parameter in case.operation.definition.raw.get("parameters", []):
        container = {"query": case.query, "header": case.headers}.get(parameter["in"])
        if container and parameter["name"] in container:
            container[parameter["name"]] = value_that_fits(container[parameter["name"]], parameter["schema"])
    if case.body is not NOT_SET:
        case.body = value_that_fits(case.body, body_schema(case.operation))
    complete = IN_WORDS.get(case.operation.definition.raw["operationId"])
    if complete:
        complete(case)
    return case


@schemathesis.hook
def before_add_examples(context, examples):
    """Those of the document are not mapped."""
    for case in examples:
        map_case(context, case)


@schemathesis.hook
def filter_case(context, case):
    """A "negative" request of the fuzzing phase that leaves out an optional body, and nothing else, is a good one."""
    meta = case.meta
    return not (meta and meta.generation.mode.is_negative and case.body is NOT_SET
                and meta.phase.data.description == "Positive test case")


def reason_of(response):
    try:
        body = response.json()
        body = body.get("body", body)  # wrap=1
        return body.get("reason") or body.get("error")
    except (ValueError, AttributeError):
        return None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    reason = reason_of(response)
    if response.status_code == 400 and reason in REFUSED_BY_STATE:
        return False
    sent = response.request.headers
    return not ("X-Gateway-Token" in sent and "X-Fcfs-Seq" in sent and response.status_code in (500, 503)
                and reason in GATEWAY_WITHOUT_NUMBER)
