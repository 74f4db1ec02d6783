"""Teams as people bring them, for planning tests: schemas as type hints make them, and the binding of real ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.errors import MissingInput
from hitl_tui.core.json_types import JsonSchema
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.policy import Risk
from hitl_tui.teams.arguments import exact_arguments


def own(
    name: str, description: str, properties: Mapping[str, JsonSchema], required: str, reads: bool = False
) -> AgentFacts:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": required.split(),
        "additionalProperties": False,
    }

    def bind(text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"input": exact_arguments(name, arguments.get("input", {}), schema)}
        except MissingInput as lacking:
            given = {"input": lacking.given}
            raise MissingInput(lacking.message, missing=lacking.missing, given=given) from lacking

    return AgentFacts(
        name=name,
        team=name,
        description=description,
        enabled=True,
        max_retries=0,
        timeout=60.0,
        bind=bind,
        risk_of=lambda arguments: Risk.LOW,
        reads_results=reads,
        takes_question=False,
        schema=lambda: schema,
        call_argument="input",
    )


NUMBER, INTEGER, TEXT, FLAG = ({"type": t} for t in ("number", "integer", "string", "boolean"))
DATE = {"type": "string", "format": "date"}
TEAMS = {
    team.name: team
    for team in (
        own("vat", "Value added tax of an amount.", {"amount": NUMBER, "rate": {**NUMBER, "default": 0.1}}, "amount"),
        own(
            "currency",
            "Convert an amount of money from one currency to another.",
            {"amount": NUMBER, "source": TEXT, "target": TEXT},
            "amount source target",
        ),
        own(
            "leave_days",
            "Count the working days between two dates, without weekends. 휴가 일수 계산",
            {"start": DATE, "end": DATE},
            "start end",
        ),
        own(
            "open_ticket",
            "Opens a ticket in the issue tracker.",
            {
                "title": TEXT,
                "severity": {"type": "string", "enum": ["low", "normal", "urgent"], "default": "normal"},
                "notify": {**FLAG, "default": False},
            },
            "title",
        ),
        own(
            "resize_image", "Shrink an image file to a width in pixels.", {"path": TEXT, "width": INTEGER}, "path width"
        ),
        own(
            "send_mail",
            "Send an email to somebody.",
            {"to": TEXT, "subject": TEXT, "body": {**TEXT, "default": ""}},
            "to subject",
        ),
        own(
            "shipping_cost",
            "Shipping cost of a parcel by weight and country.",
            {"weight_kg": NUMBER, "country": TEXT},
            "weight_kg country",
        ),
        own(
            "rollout",
            "Deploy a version of a service.",
            {
                "service": {**TEXT, "description": "name of the service"},
                "version": {**TEXT, "description": "such as 1.4.2"},
                "env": {"type": "string", "enum": ["staging", "production"]},
            },
            "service version env",
        ),
        own(
            "sms",
            "Sends a text message to phones (문자 메시지).",
            {"numbers": {"type": "array", "items": TEXT}, "message": TEXT},
            "numbers message",
        ),
        own(
            "distance",
            "Distance between two places (거리).",
            {"origin": TEXT, "destination": TEXT, "by": {"type": "string", "enum": ["car", "train"], "default": "car"}},
            "origin destination",
        ),
        own("weather", "Weather forecast for a city.", {"city": TEXT, "days": {**INTEGER, "default": 1}}, "city"),
    )
}
