"""Values of a checkpoint file, packed: a thousand TODOs are much the same, and so are the checkpoints of a session.

A packed value is MessagePack as LangGraph writes it, deflated against a dictionary of what our own values begin with.
"""

from __future__ import annotations

import asyncio
import zlib

from hitl_tui.core.messages import Message

PLAIN, PACKED = "msgpack", "msgpack-deflate"
"""Kinds of values, as a row's `type` names them."""

DICTIONARY = (
    b"\xa4data\xa5files\xa9citations\xa5found\xc3\xa4text\xa6result\xa7summary\xa6digest\xa9artifact"
    b"\xa4kind\xa8finished\xa6failed\xabinterrupted\xa5error\xacauto_approve\xa6run_id\xa7attempt\xa4task"
    b"\xa4kind\xa7decided\xa4data\x8c\xa5asked\xa4todo\xa2at\xd9 2026-01-01T00:00:00.000000+00:00\xa2by\xa7channel"
    b"\xa7console\xa6digest\xd9@\xa7outcome\xa8approved\xa8rejected\xa6people\x91\x81\xa2by\xa6reason\xa0\xaarequest_id"
    b"\xb4req-\xa7todo_id\xa8todo_0\xa5value\xc0\xa7verdict\xa7approve\xa2id\xbcdecided:req-\xa3seq\xa2at\xd9 20"
    b"\xa6status\xa9completed\xa7skipped\xa7blocked\xa7pending\xb0waiting_approval\xabin_progress\xa6failed"
    b"\xa2id\xa8todo_0\xa4name\xabdescription\xaaagent_name\xadagent_purpose\xafexpected_output\xa6status\xa8priority"
    b"\xa6medium\xacdependencies\x91\xa8todo_0\xaacreated_at\xd9 20\xaastarted_at\xd9 20\xaccompleted_at\xd9 20"
    b"\xa8duration\xcb\xa6waited\xadwaiting_since\xa8metadata\x82\xa5agent\xa4step\xa6inputs\xa6manual\xc3\xa5error"
    b"\xabretry_count\xabmax_retries\x00\xa9arguments\x81\xa4text\xd9\xa4risk\xa3low\xa4high\xa4rank\xcb@"
    b"\xa8optional\xc3\xa7timeout\xcb@\x82\xc0\x00\x00\x00\x00\x00\xa7attempt\x01\xa6run_id\xa8approval\x87\xa2by"
    b"\xa6people\x91\x81\xa2by\xa2at\xd9 20\xa7channel\xa6policy\xa6digest\xd9@\xaarequest_id\xb4req-\xa5ahead\xc2"
    b"\xa6result\x83\xa6digest\xd9@\xa7summary\xa5found\xc3\xa8question\xaainterrupts\x91\xa5asked\x01\xa7missing\x91"
    b"\xadmessage_parts\x81\xaf/approval_message\x94\xad{} waiting: {}\xa0\x92"
    b"\x87\xa1v\x04\xa2ts\xd9 2026-01-01T00:00:00.000000+00:00\xa2id\xd9$1f1e0000-0000-6000-8000-"
    b"\xaechannel_values\x8a\xa5query\xd9\xaasession_id\xaarequest_id\xb0\xadcurrent_phase\xa8approval"
    b"\xafapproval_status\xa7waiting\xa8approved\xb0approval_message"
    b"\xd9 waiting: todo_0, todo_0, todo_0, todo_0, todo_0"
    b"\xa8planning\x86\xa6agents\x91\xa5teams\x91\xa6intent\x86\xa4type\xaaconfidence\xcb?\xf0\x00\x00\x00\x00\x00\x00"
    b"\xa8keywords\x90\xa8entities\x80\xa8language\xa2en\xa5notes\x90\xa4plan\xd9@\xa8strategy\xa8pipeline"
    b"\xaeestimated_time\xcb\x00\x00\x00\x00\x00\x00\x00\x00"
    b"\xa7control\xde\x00\x11\xa4mode\xa4step\xa6branch\x00\xa6cursor\xcd\xa4plan\xa8accepted\xa8revision\x00"
    b"\xaaplan_asked\x00\xa8feedback\xa0\xaepolicy_version\xb0\xabconcurrency\x04\xa9proposals\x80\xa9concluded\xc2"
    b"\xa7highest\xcd\xa9completed\xcc\xa7refused\x90\xa4held\xc2\xa7limited\xc2\xa7lineage\xa7results\x80"
    b"\xb2branch:to:approval\xc0\xb0channel_versions\xde\x00\x10\xa9__start__\xd9 00000000000000000000000000000002"
    b"\xa5query\xd9 00000000000000000000000000000002\xaasession_id\xd9 00000000000000000000000000000002"
    b"\xa7control\xd9 00000000000000000000000000000\xb5branch:to:coordinator\xd9 00000000000000000000000000000003"
    b"\xaarequest_id\xd9 00000000000000000000000000000003\xadcurrent_phase\xd9 00000000000000000000000000000"
    b"\xafapproval_status\xd9 00000000000000000000000000000\xb0approval_message\xd9 00000000000000000000000000000"
    b"\xa7results\xd9 00000000000000000000000000000003\xb2branch:to:planning\xd9 00000000000000000000000000000004"
    b"\xa8planning\xd9 00000000000000000000000000000004\xa5todos\xd9 00000000000000000000000000000"
    b"\xb5branch:to:plan_review\xd9 00000000000000000000000000000005"
    b"\xb2branch:to:approval\xd9 00000000000000000000000000000"
    b"\xb7branch:to:execute_teams\xd9 00000000000000000000000000000\xadversions_seen\x88"
    b"\xa9__input__\x80\xa9__start__\x81\xa9__start__\xd9 00000000000000000000000000000001\xabcoordinator\x81"
    b"\xb5branch:to:coordinator\xd9 00000000000000000000000000000002\xa8planning\x81"
    b"\xb2branch:to:planning\xd9 00000000000000000000000000000003"
    b"\xabplan_review\x81\xb5branch:to:plan_review\xd9 00000000000000000000000000000004\xad__interrupt__\xde\x00\x10"
    b"\xa8approval\x81\xb2branch:to:approval\xd9 00000000000000000000000000000"
    b"\xadexecute_teams\x81\xb7branch:to:execute_teams\xd9 00000000000000000000000000000"
    b"\xb0updated_channels\x96\xb0approval_message\xafapproval_status"
    b"\xb2branch:to:approval\xa7control\xadcurrent_phase\xa5todos"
)
"""What is packed refers to it: it never changes. Another one would need another kind."""

LARGEST = 256 * 1024 * 1024
"""Bytes of one value that are still read."""
_SMALLEST = 128
_QUICK = 128 * 1024
"""Bytes that are packed in less than a thread takes to begin."""


def packed(kind: str, data: bytes) -> tuple[str, bytes]:
    """Return a value as it is kept: packed where that makes it smaller."""
    if kind != PLAIN or len(data) < _SMALLEST:
        return kind, data
    packer = zlib.compressobj(1, zdict=DICTIONARY)
    smaller = packer.compress(data) + packer.flush()
    return (PACKED, smaller) if len(smaller) < len(data) else (kind, data)


async def packed_aside(kind: str, data: bytes) -> tuple[str, bytes]:
    """Return the same; what is large is packed in a thread, so that nobody waits for it."""
    return packed(kind, data) if len(data) < _QUICK else await asyncio.to_thread(packed, kind, data)


def unpacked(kind: str, data: bytes) -> tuple[str, bytes]:
    """Return a value as LangGraph wrote it.

    Raises:
        ValueError: it can't be unpacked, or makes more than `LARGEST` bytes.
    """
    if kind != PACKED:
        return kind, data
    unpacker = zlib.decompressobj(zdict=DICTIONARY)
    try:
        whole = unpacker.decompress(data, LARGEST)
    except zlib.error as error:
        raise ValueError(Message("it can't be unpacked")) from error
    if not unpacker.eof:
        too_large = Message("it is larger than {} MB", LARGEST // 1024 // 1024)
        raise ValueError(too_large if unpacker.unconsumed_tail else Message("it can't be unpacked"))
    return PLAIN, whole
