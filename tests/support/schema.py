#!/usr/bin/python3
"""JSON documents against the schemas in docs/, each by the "schema" that it names.

usage: schema.py FILE...   (- is standard input)

A file holds one document or several: of nfsbal load the lines before the last, which name no schema, are its
definitions `second` and `ready`. Ends with 0 if all fit; else says what does not, and where.
"""
import json
import sys
import warnings

warnings.simplefilter("ignore")
try:
    import jsonschema
except ImportError:
    sys.exit("no jsonschema for this Python: scripts/setup installs python3-jsonschema")


def schema_of(name):
    with open("docs/%s.schema.json" % name.split("/")[0]) as f:
        schema = json.load(f)
    of_schema(schema).check_schema(schema)
    return schema


def of_schema(schema):
    return jsonschema.validators.validator_for(schema)


def documents(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        doc, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        yield doc


def validator(doc, last):
    whole = schema_of(doc.get("schema", last.get("schema")))
    if "schema" in doc:
        return of_schema(whole)(whole)
    definitions = whole.get("definitions", {})
    return of_schema(whole)({"definitions": definitions, **definitions["ready" if "ready" in doc else "second"]})


bad = 0
for path in sys.argv[1:]:
    docs = list(documents(sys.stdin.read() if path == "-" else open(path).read()))
    for doc in docs:
        for error in list(validator(doc, docs[-1]).iter_errors(doc))[:5]:
            print("%s: %s: %s" % (path, "/".join(map(str, error.absolute_path)) or "at the top", error.message))
            bad = 1
sys.exit(bad)
