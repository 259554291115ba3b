"""An API: who is calling, what only editors may do, and a webhook. Needs fastapi and uvicorn, nothing else."""

import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.request

from fastapi import Depends, FastAPI, Header, HTTPException, Request

GATEHOUSE = os.environ["GATEHOUSE"]
API_KEY = os.environ["API_KEY"]
SIGNING_SECRET = os.environ["SIGNING_SECRET"]

app = FastAPI()


def current_user(authorization: str = Header("")) -> dict:
    """Returns who has the bearer token: 401 or 403 for nobody, 503 without a verdict."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise HTTPException(401, "no_token", {"WWW-Authenticate": "Bearer"})
    request = urllib.request.Request(
        GATEHOUSE + "/api/v1/verify",
        data=json.dumps({"token": token}).encode(),
        headers={"Authorization": "Bearer " + API_KEY, "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # raises unless the status is 200
            verdict = json.load(answer)
    except (OSError, ValueError) as error:
        raise HTTPException(503, "unavailable") from error
    if verdict["success"] is True:
        return verdict["data"]
    if verdict["errorMessage"] == "membership_blocked":
        raise HTTPException(403, verdict["errorMessage"])
    raise HTTPException(401, verdict["errorMessage"], {"WWW-Authenticate": 'Bearer error="invalid_token"'})


def require_role(role: str):
    """Returns a dependency that admits only people with the role."""

    def user_with_role(user: dict = Depends(current_user)) -> dict:
        if role not in user["roles"]:
            raise HTTPException(403, "missing_role")
        return user

    return user_with_role


@app.get("/me")
def me(user: dict = Depends(current_user)) -> dict:
    return {"email": user["email"], "roles": user["roles"]}


@app.post("/articles", status_code=201)
def publish(article: dict, user: dict = Depends(require_role("editor"))) -> dict:
    return {"title": article["title"], "author": user["userId"]}


@app.post("/hook")
async def hook(request: Request, svc_signature: str = Header("")) -> None:
    event = verified_event(await request.body(), svc_signature)
    print(event["type"], event["data"], flush=True)


def verified_event(body: bytes, signature: str) -> dict:
    """Returns the event of a delivery: 401 unless it is signed with the secret, at most five minutes ago."""
    stamp, *signatures = signature.split(",")
    expected = hmac.new(SIGNING_SECRET.encode(), stamp[2:].encode() + b"." + body, hashlib.sha256).hexdigest()
    is_signed = any(hmac.compare_digest(one, "v1=" + expected) for one in signatures if one.isascii())
    is_recent = stamp[:2] == "t=" and stamp[2:].isdecimal() and abs(time.time() - int(stamp[2:])) <= 300
    if not (is_signed and is_recent):
        raise HTTPException(401, "wrong_signature")
    return json.loads(body)
