"""The description of the API: whole, true to the routes, and nothing that needs another host."""

from __future__ import annotations

import re
from typing import Any

from tests.api.test_access import MATRIX
from tests.support.api import Api

WITHOUT_BODY = ("/v1/content/{content_id}/withdraw",)


async def described(api: Api) -> dict[str, Any]:
    response = await api.http.get("/schema/openapi.json")
    assert response.status_code == 200
    told: dict[str, Any] = response.json()
    return told


async def test_every_route_tells_its_body_its_refusals_and_its_key(api: Api) -> None:
    schema = await described(api)
    operations = {
        (method, path): operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }
    assert len(operations) == len(MATRIX) + len(("/healthz", "/readyz"))
    for (method, path), operation in operations.items():
        assert operation["summary"], path
        refused = operation["responses"]["default"]["content"]
        assert refused == {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        }
        has_body = method in ("post", "put") and path not in WITHOUT_BODY
        assert ("requestBody" in operation) == has_body, path
        public = path in ("/healthz", "/readyz")
        assert operation["security"] == ([] if public else [{"bearer": []}]), path
    batch = operations["post", "/v1/content:batch"]["requestBody"]["content"]
    assert batch.keys() == {"application/json", "application/x-ndjson"}


async def test_a_submission_is_described_as_it_must_be_sent(api: Api) -> None:
    parts = (await described(api))["components"]["schemas"]
    told = parts["Submission"]
    assert told["required"] == ["content_id"]
    assert told["additionalProperties"] is False
    score = told["properties"]["labels"]["additionalProperties"]
    assert (score["type"], score["minimum"], score["maximum"]) == ("number", 0, 1)


async def test_every_reference_leads_somewhere(api: Api) -> None:
    response = await api.http.get("/schema/openapi.json")
    parts = response.json()["components"]["schemas"]
    wanted = set(re.findall(r'"\$ref":"#/components/schemas/([^"]+)"', response.text))
    assert wanted
    assert wanted <= parts.keys()


async def test_the_description_names_no_other_host(api: Api) -> None:
    response = await api.http.get("/schema/openapi.json")
    assert not re.search(r"https?://", response.text)
