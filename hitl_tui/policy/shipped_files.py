"""SHA-256 of every file of the packaged examples: a folder with these and no other code is the program's own.

A test compares them with the examples; `uv run python tests/support/shipped.py` writes them anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SHIPPED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "agents": {
            "README.md": "e93d64778a3d85a70c6594c9d2183f4bf3eb192978d82a61e33b6d7ba0593324",
            "hitl.toml": "f2d5a30bf8dd9cb68f70ce4fd84ee04eface9144f4487d4868c335a502bf220d",
            "prices.csv": "77c63624ef2aecbda8a6f6b2372169a3a5275050ed215c596b3dc43016bb3d98",
        },
        "attach": {
            "README.md": "66a5024acae8650fea0fa68b7bfa8ec5199960228699dc304933602cff454e3f",
            "mail.py": "b75583b349ade06304ed535b5257b1b08120c17d72e74ab6809afa1f4a0593d4",
        },
        "cleanup": {
            "README.md": "9e57ffc12aeaf1b886b8a13e9e3297005a6ddb88d074e8ac58edcc40d313b5a2",
            "hitl.toml": "625c8dd85fbfc2c95054c907477fa49e7e1d272387af6198ad02ede73f1e0b11",
            "sandbox.toml": "190fda2046bd1881c81744482bfce61d1f9c968590b48faf6173163c418c086f",
            "tools/duplicates.py": "85d7563fa5d48ae0a87267cd29e360b6ded420bb53a744e1932af4ed9d1904a2",
        },
        "lease": {
            "README.md": "6920b5374261e5fc323237154d63e28a13199cb8310c9ff2c8cff2b284a63560",
            "deposit-protection.md": "c4177c73e4b90941508f186f33441cfcb44ed34612c65ab0da0158f9dfbf003d",
            "hitl.toml": "5436af99de4fc2b3b645e2ccac91a1a87cd2e399ae04d8f6fa08b4d46e322672",
            "housing-lease-act.md": "3e48ec4fa89f0f429c16e440c0d5474ed9034e63abe77d2632c54a186cf968d1",
            "mediation.md": "5985deefd8d3bd825bc365624ca20b490e73c470ed0c255dff8d7808a07d4da2",
            "rent-conversion.md": "33686fc573bbd34f84a124e71b788e7d5fa66bc8739d6260627802494db22e3d",
            "sample-apartment-prices.csv": "e45f7f619769e8e4bc1f8971070584499d446fceb94f91e2ee70db725674b091",
            "summary-en.md": "42cd550d4f84330fa1c8973be164bf0261d1922c425d94ab529959b7dd92e3f2",
            "what-to-do.md": "051f94947ec32f411886c70be50bd99cc042c27218ed7629a2127437a5172814",
        },
        "ops": {
            "README.md": "920f4867e5ee25c456b5b31fa1cda8489962cdc88655845ce8f37420106ae422",
            "hitl.toml": "d2a2de513ce42e978b43cca13e7a57a9902fd57a8b4743078bbd38a3d9c740b3",
            "runbook-ko.md": "4ad54faada91ef3a205a38343c06f2a9a75a4105baac6fe281c87b684c6c1d7d",
            "runbook.md": "55a1bd1936333dcf1fccb32fa401262da09b1a7698dd4909cbddc206dc3c1dbb",
            "sandbox.toml": "22ff433147d91cb127898394032618bbff57944926467697c13fa4d4f63eeffd",
        },
    }
)
"""By example, then by path in it."""
