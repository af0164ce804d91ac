"""Images in each format that carries them: one block, its type and its size, and none of its bytes."""

from __future__ import annotations

import base64
import json

import pytest

BODY = base64.b64encode(bytes(range(10))).decode()
URL = f"data:image/png;base64,{BODY}"
TEXT = {"type": "text", "text": "see"}

LINES = {
    "codex": {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": URL}],
        },
    },
    "pi": {
        "type": "message",
        "id": "p",
        "parentId": None,
        "message": {
            "role": "user",
            "content": [TEXT, {"type": "image", "mimeType": "image/png", "data": BODY}],
            "timestamp": 1772607601000,
        },
    },
    "factory-droid": {
        "type": "message",
        "id": "d",
        "message": {
            "role": "user",
            "content": [
                TEXT,
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BODY}},
            ],
        },
    },
    "opencode": {
        "info": {"id": "ses_1"},
        "messages": [
            {
                "info": {"id": "msg_1", "role": "user"},
                "parts": [TEXT, {"type": "file", "mime": "image/png", "url": URL, "id": "prt_1"}],
            }
        ],
    },
}


@pytest.mark.parametrize(("agent", "line"), LINES.items())
def test_image(read, agent, line):
    session = read(json.dumps(line).encode())
    assert session.agent == agent
    assert session.kinds("prompt") == ["see"]
    assert session.of("blocks", "type", "media_type", "bytes", "text") == [
        ("text", None, None, "see"),
        ("image", "image/png", 10, None),
    ]
