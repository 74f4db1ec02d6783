"""A list with too many entries is refused in words of ours."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field, ValidationError

from hitl_tui.config.schema import problems_in


class _Form(BaseModel):
    steps: list[int] = Field(max_length=2)


def test_a_list_that_is_too_long_is_told_by_its_numbers() -> None:
    with pytest.raises(ValidationError) as caught:
        _Form(steps=[1, 2, 3])
    (problem,) = problems_in(caught.value, _Form, _Form)
    assert problem.says == "must have at most 2 entries, but it has 3"
