"""The description of the API as JSON: what the framework knows, and what it can't see.

Bodies are decoded by our own decoders and refusals are all of one shape, so both are added here.
There is no page beside it: such pages fetch their scripts from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Annotated, Any

import msgspec
from litestar import Request
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, License, SecurityScheme
from litestar.routes import HTTPRoute

from backend.api.access import access_of
from backend.api.bodies import JSON, NDJSON
from shared.problems import PROBLEM_MEDIA_TYPE, Problem
from shared.wire.live import STREAM_MEDIA_TYPE

_RAW: dict[str, Any] = {
    "labels": dict[str, Annotated[float, msgspec.Meta(ge=0, le=1)]],
    "fields": dict[str, Any],
}
_REF = "#/components/schemas/{name}"
_BEARER: dict[str, list[str]] = {"bearer": []}


class Described(JsonRenderPlugin):
    """The schema with request bodies, refusals and who needs a key."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the whole description."""
        schema = deepcopy(openapi_schema)
        for route in request.app.routes:
            if isinstance(route, HTTPRoute) and route.path_format in schema["paths"]:
                _describe(schema, route)
        return msgspec.json.encode(schema)


def openapi_config(version: str) -> OpenAPIConfig:
    """Return the settings under which `/schema/openapi.json` is served."""
    return OpenAPIConfig(
        title="fencepost",
        version=version,
        license=License(name="Apache-2.0"),
        use_handler_docstrings=True,
        components=Components(
            security_schemes={"bearer": SecurityScheme(type="http", scheme="bearer")}
        ),
        render_plugins=[Described()],
    )


def _describe(schema: dict[str, Any], route: HTTPRoute) -> None:
    operations = schema["paths"][route.path_format]
    for handler in route.route_handlers:
        for method in handler.http_methods:
            operation = operations.get(method.lower())
            if operation is None:
                continue
            access = access_of(handler)
            operation["security"] = [] if access is None or access.public else [_BEARER]
            operation["responses"].pop("400", None)
            operation["responses"]["default"] = {
                "description": "Refused: `code` says why, `field` what is at fault.",
                "content": {PROBLEM_MEDIA_TYPE: {"schema": _named(schema, Problem)}},
            }
            events = handler.opt.get("events")
            if events is not None:  # what one event holds; the framework can't see into a stream
                content = {STREAM_MEDIA_TYPE: {"schema": _named(schema, events)}}
                operation["responses"]["200"]["content"] = content
            body = handler.opt.get("body")
            if body is not None:
                content = _content(schema, _told(body))
                operation["requestBody"] = {"required": True, "content": content}
            _describe_bytes(operation, method, handler.opt.get("bytes", ()))


def _describe_bytes(operation: dict[str, Any], method: str, media_types: Sequence[str]) -> None:
    """Say that bytes of these types are sent (PUT) or answered."""
    content = {each: {"schema": {"type": "string", "format": "binary"}} for each in media_types}
    if content and method == "PUT":
        operation["requestBody"] = {"required": True, "content": content}
    elif content:
        operation["responses"]["200"]["content"] = content


def _content(schema: dict[str, Any], body: Any) -> dict[str, Any]:
    content = {JSON: {"schema": _named(schema, body)}}
    rows = getattr(body, "__args__", None)
    if rows:
        content[NDJSON] = {"schema": _named(schema, rows[0])}
    return content


def _told(kind: Any) -> Any:
    """Return a type as it is told: what stays raw in our Structs, as what it must hold."""
    row = (getattr(kind, "__args__", None) or (kind,))[0]
    fields: list[Any] = []
    for field in msgspec.structs.fields(row):
        told = _RAW.get(field.name) if field.type is msgspec.Raw else None
        if told is not None:
            fields.append((field.name, told, msgspec.field(default_factory=dict)))
        elif field.required:
            fields.append((field.name, field.type))
        else:
            fields.append((field.name, field.type, field.default))
    shape = msgspec.defstruct(row.__name__, fields, kw_only=True, forbid_unknown_fields=True)
    shape.__doc__ = row.__doc__
    return shape if row is kind else list[shape]  # type: ignore[valid-type]


def _named(schema: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Return the schema of a type, its parts being added to the components."""
    (described,), parts = msgspec.json.schema_components([kind], ref_template=_REF)
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    for name, part in parts.items():
        components.setdefault(name, part)
    return described
