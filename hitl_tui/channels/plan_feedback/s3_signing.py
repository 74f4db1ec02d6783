"""Signatures by the service's clock: S3 refuses requests whose time is more than 15 minutes from its own."""

from __future__ import annotations

import email.utils
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.auth import AUTH_TYPE_MAPS, SIGV4_TIMESTAMP, S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError


class ServiceTimeAuth(S3SigV4Auth):
    """Signs with this machine's time, moved by what its clock is known to be wrong."""

    ahead = timedelta()

    def _modify_request_before_signing(self, request: AWSRequest) -> None:
        request.context["timestamp"] = (datetime.now(UTC) + self.ahead).strftime(SIGV4_TIMESTAMP)
        signer: Any = super()
        signer._modify_request_before_signing(request)


def sign_by_service_time(error: ClientError) -> bool:
    """Sign what follows by the clock of a service that refused a request for its time; return whether it told it."""
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    try:
        told = email.utils.parsedate_to_datetime(headers.get("date", ""))
        ServiceTimeAuth.ahead = told.astimezone(UTC) - datetime.now(UTC)
    except (TypeError, ValueError, OverflowError):
        return False
    AUTH_TYPE_MAPS["s3v4"] = ServiceTimeAuth
    return True
