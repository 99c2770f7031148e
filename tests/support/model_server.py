#!/usr/bin/env python3
"""A server on the loopback interface that speaks the protocols of OpenAI and Anthropic, checks each request's form against their
public descriptions, gives scripted answers, and plays faults. Standard library only; ends when its standard input does.

    model_server.py [PLAN]      PLAN is JSON; the first line on standard output is {"url": ..., "refused_url": ...}

A plan has: key (default "test-key-0123456789"), model (the only one it knows; none: any), steps (one for each request, in order),
rules (tried after the steps: {"contains": REGEX, ...step}), otherwise (a step; default {"answer": "ok"}), fault_rate and seed
(faults at random, out of `faults` or all).

A step is an answer, {"answer": TEXT} with optional finish (stop, length), cut (bytes of each write), delay (seconds between
writes), stream (false: one JSON object), usage (false: leave it out); or a fault, {"fault": NAME} out of FAULTS, with what it
takes. GET /log gives {"requests": [...], "invalid": [...]} without keys; POST /plan begins another plan.
"""

import json
import os
import random
import re
import socket
import struct
import sys
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = ("wrong_key", "unknown_model", "no_credit", "rate_limit", "server_error", "overloaded", "proxy_page", "redirect", "refused",
          "half_closed", "reset", "malformed_sse", "garbage", "error_event", "empty", "long", "slow_stream", "stall", "unsupported",
          "echo_key", "no_code", "prose_in_code", "two_kernels", "other_signature", "wrong_language")
# Those that a run can live through.
PASSING = ("rate_limit", "server_error", "overloaded", "proxy_page", "refused", "half_closed", "reset", "malformed_sse", "error_event",
           "empty", "long")
# Answers that arrive whole and are of no use: what they say.
USELESS = {
    "no_code": "I would be glad to write this kernel for you. Which processor is it for?",
    "prose_in_code": "```cpp\n#include \"problem.h\"\nHere is the kernel that you asked for\n"
                     "extern \"C\" void kw_kernel(const float* x, float* out) { out[0] = x[0]; }\n```",
    "two_kernels": "```cpp\nextern \"C\" void kw_kernel(const float* x, float* out) { out[0] = x[0]; }\n```\nor\n"
                   "```cpp\nextern \"C\" void kw_kernel(const float* x, float* out) { out[0] = 2 * x[0]; }\n```",
    "other_signature": "```cpp\nextern \"C\" void kw_kernel(float* out, int n, double scale) { out[0] = n * scale; }\n```",
    "wrong_language": "```python\nimport torch\n\n\ndef kw_kernel(x):\n    return torch.relu(x)\n```",
}


class Invalid(Exception):
    """The request is not of the form that the provider describes."""


def need(condition, message):
    if not condition:
        raise Invalid(message)


def check_messages(messages, roles):
    need(isinstance(messages, list) and messages, "messages: must be a list that is not empty")
    for message in messages:
        need(isinstance(message, dict) and set(message) == {"role", "content"}, "messages: each has a role and a content")
        need(message["role"] in roles, f"messages: there is no role '{message['role']}'")
        need(isinstance(message["content"], str) and message["content"] != "", "messages: content must be a text that is not empty")


def check_number(body, name, low, high, whole=False):
    if name in body:
        kinds = (int,) if whole else (int, float)
        need(isinstance(body[name], kinds) and not isinstance(body[name], bool), f"{name}: must be a number")
        need(low <= body[name] <= high, f"{name}: out of range")


def check_fields(body, allowed):
    unknown = sorted(set(body) - set(allowed))
    need(not unknown, f"{', '.join(unknown)}: Extra inputs are not permitted")
    need(isinstance(body.get("model"), str) and body["model"], "model: Field required")
    need(body.get("stream") in (None, True, False), "stream: must be a boolean")


class OpenAi:
    path = "/v1/chat/completions"

    @staticmethod
    def key(headers):
        scheme, _, key = headers.get("Authorization", "").partition(" ")
        return key if scheme == "Bearer" else ""

    @staticmethod
    def check(headers, body):
        check_fields(body, {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "seed",
                            "stop", "response_format"})
        check_messages(body.get("messages"), {"system", "developer", "user", "assistant"})
        check_number(body, "max_tokens", 1, 1 << 20, whole=True)
        check_number(body, "max_completion_tokens", 1, 1 << 20, whole=True)
        need(not {"max_tokens", "max_completion_tokens"} <= set(body), "max_tokens: not together with max_completion_tokens")
        check_number(body, "temperature", 0, 2)
        check_number(body, "seed", -(1 << 63), (1 << 63) - 1, whole=True)
        if "stream_options" in body:
            need(body.get("stream") is True, "stream_options: only where stream is true")
            need(isinstance(body["stream_options"].get("include_usage"), bool), "stream_options.include_usage: must be a boolean")
        if "stop" in body:
            stops = [body["stop"]] if isinstance(body["stop"], str) else body["stop"]
            need(isinstance(stops, list) and 1 <= len(stops) <= 4, "stop: one to four texts")
        if "response_format" in body:
            need(body["response_format"].get("type") in ("text", "json_object"), "response_format.type: unknown")
            words = " ".join(message["content"] for message in body["messages"]).lower()
            need("json" in words, "'messages' must contain the word 'json' in some form")

    @staticmethod
    def error(kind, message, param=None, code=None):
        return {"error": {"message": message, "type": kind, "param": param, "code": code}}

    @staticmethod
    def events(body, pieces, finish, usage):
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
        yield None, {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
        for piece in pieces:
            yield None, {**base, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        yield None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        if usage and body.get("stream_options", {}).get("include_usage"):
            yield None, {**base, "choices": [], "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1],
                                                          "total_tokens": sum(usage)}}
        yield None, "[DONE]"

    @staticmethod
    def error_event():
        return None, OpenAi.error("server_error", "The server had an error while processing your request")

    @staticmethod
    def whole(body, text, finish, usage):
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"],
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
                "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}}


class Anthropic:
    path = "/v1/messages"

    @staticmethod
    def key(headers):
        return headers.get("x-api-key", "")

    @staticmethod
    def check(headers, body):
        need(headers.get("anthropic-version") == "2023-06-01", "anthropic-version: header is required")
        check_fields(body, {"model", "messages", "stream", "max_tokens", "temperature", "system", "stop_sequences"})
        check_messages(body.get("messages"), {"user", "assistant"})
        need("max_tokens" in body, "max_tokens: Field required")
        check_number(body, "max_tokens", 1, 1 << 20, whole=True)
        check_number(body, "temperature", 0, 1)
        need(isinstance(body.get("system", ""), str), "system: must be a text")
        last = body["messages"][-1]
        need(last["role"] == "user" or last["content"] == last["content"].rstrip(),
             "messages: final assistant content cannot end with trailing whitespace")
        for stop in body.get("stop_sequences", []):
            need(isinstance(stop, str) and stop.strip(), "stop_sequences: each stop sequence must contain non-whitespace")

    @staticmethod
    def error(kind, message, param=None, code=None):
        return {"type": "error", "error": {"type": kind, "message": message}}

    @staticmethod
    def events(body, pieces, finish, usage):
        reason = {"stop": "end_turn", "length": "max_tokens"}[finish]
        usage = usage or (0, 0)
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": body["model"], "stop_reason": None,
                   "stop_sequence": None, "usage": {"input_tokens": usage[0], "output_tokens": 1 if usage[1] else 0}}
        yield "message_start", {"type": "message_start", "message": message}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield "ping", {"type": "ping"}
        for piece in pieces:
            yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                                "usage": {"output_tokens": usage[1]}}
        yield "message_stop", {"type": "message_stop"}

    @staticmethod
    def error_event():
        return "error", Anthropic.error("overloaded_error", "Overloaded")

    @staticmethod
    def whole(body, text, finish, usage):
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
                "content": [{"type": "text", "text": text}], "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[finish],
                "stop_sequence": None, "usage": {"input_tokens": usage[0], "output_tokens": usage[1]}}


def sse(event):
    name, data = event
    text = data if isinstance(data, str) else json.dumps(data)
    return ((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode()


class Plan:
    """What to do with each request; shared by the threads of the server."""

    def __init__(self, plan):
        self.plan = {"key": "test-key-0123456789", "model": None, "otherwise": {"answer": "ok"}, **plan}
        self.steps = list(plan.get("steps", []))
        self.random = random.Random(plan.get("seed", 1))
        self.lock = threading.Lock()
        self.requests, self.invalid = [], []
        self.in_flight = self.most_in_flight = 0

    def next_step(self, prompt):
        with self.lock:
            if self.steps:
                return self.steps.pop(0)
            if self.random.random() < self.plan.get("fault_rate", 0):
                return {"fault": self.random.choice(self.plan.get("faults", PASSING))}
        for rule in self.plan.get("rules", []):
            if re.search(rule["contains"], prompt):
                return rule
        return self.plan["otherwise"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    plan: Plan

    def log_message(self, *_):
        pass

    def do_GET(self):
        with self.plan.lock:
            log = {"requests": self.plan.requests, "invalid": self.plan.invalid, "most_in_flight": self.plan.most_in_flight}
        self.reply(200, log)

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/plan":
            type(self).plan = Plan(json.loads(data))
            return self.reply(200, {})
        api = next((api for api in (OpenAi, Anthropic) if api.path == self.path), None)
        if api is None:
            return self.reply(404, OpenAi.error("not_found_error", f"no such path: {self.path}"))
        try:
            self.handle_chat(api, data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def handle_chat(self, api, data):
        plan = self.plan.plan
        try:
            body = json.loads(data)
            need(isinstance(body, dict), "the body must be an object")
            need(self.headers.get("Content-Type", "").split(";")[0] == "application/json", "Content-Type: must be application/json")
            api.check(self.headers, body)
        except (Invalid, ValueError) as problem:
            with self.plan.lock:
                self.plan.invalid.append(str(problem))
            return self.reply(400, api.error("invalid_request_error", str(problem)))
        with self.plan.lock:
            self.plan.requests.append({"path": self.path, "body": body, "time": time.monotonic(),
                                       "has_key": api.key(self.headers) == plan["key"]})
        if api.key(self.headers) != plan["key"]:
            return self.fault(api, body, {"fault": "wrong_key"})
        if plan["model"] and body["model"] != plan["model"]:
            return self.fault(api, body, {"fault": "unknown_model"})
        step = self.plan.next_step("\n".join(message["content"] for message in body["messages"]) + str(body.get("system", "")))
        if "fault" in step:
            return self.fault(api, body, step)
        self.answer(api, body, step)

    def answer(self, api, body, step):
        text, finish = step["answer"], step.get("finish", "stop")
        prompt_bytes = sum(len(message["content"]) for message in body["messages"]) + len(body.get("system", ""))
        usage = (prompt_bytes // 4 + 3, len(text) // 4 + 1)
        if step.get("delay_before"):
            # Counted while nothing of the answer is written: whoever has read the end of one may ask again before we are done here.
            with self.plan.lock:
                self.plan.in_flight += 1
                self.plan.most_in_flight = max(self.plan.most_in_flight, self.plan.in_flight)
            time.sleep(step["delay_before"])
            with self.plan.lock:
                self.plan.in_flight -= 1
        if step.get("stream") is False or not body.get("stream"):
            return self.reply(200, api.whole(body, text, finish, usage))
        size = step.get("piece", 20)
        pieces = [text[at:at + size] for at in range(0, len(text), size)]
        self.stream(b"".join(map(sse, api.events(body, pieces, finish, usage if step.get("usage", True) else None))), step)

    def stream(self, data, step=(), until=None, ends=True):
        """Sends a stream, in writes of `cut` bytes, up to a share of it."""
        step = dict(step)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        data = data[:int(len(data) * until)] if until is not None else data
        cut = step.get("cut", len(data) or 1)
        for at in range(0, len(data), cut):
            piece = data[at:at + cut]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
            if step.get("delay"):
                time.sleep(step["delay"])
        if ends:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def reply(self, status, data, headers=()):
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", **dict(headers)}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def abort(self):
        """Closes so that the other side sees a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True

    def fault(self, api, body, step):
        name = step["fault"]
        text = step.get("answer", "int answer() { return 42; }")
        stream = b"".join(map(sse, api.events(body, [text[:9], text[9:]], "stop", (10, 10))))
        if name == "wrong_key":
            self.reply(401, api.error("authentication_error", "invalid x-api-key", code="invalid_api_key"))
        elif name == "echo_key":
            self.reply(step.get("status", 401), api.error("authentication_error", f"Incorrect API key provided: {api.key(self.headers)}"))
        elif name == "unknown_model":
            self.reply(404, api.error("not_found_error", f"model: {body['model']} does not exist", code="model_not_found"))
        elif name == "no_credit":
            self.reply(429, api.error("insufficient_quota", "You exceeded your current quota", code="insufficient_quota"))
        elif name == "rate_limit":
            after = step.get("retry_after", 0)
            if step.get("as_date"):
                after = formatdate(time.time() + after, usegmt=True)
            self.reply(429, api.error("rate_limit_error", "Too many requests"), {"Retry-After": str(after)})
        elif name == "server_error":
            self.reply(500, api.error("api_error", "Internal server error"))
        elif name == "overloaded":
            self.reply(529, api.error("overloaded_error", "Overloaded"))
        elif name == "proxy_page":
            self.reply(502, b"<html><body>\x80 Bad gateway</body></html>", {"Content-Type": "text/html"})
        elif name == "redirect":
            self.reply(307, b"", {"Location": step.get("to", "http://127.0.0.1:9/elsewhere")})
        elif name == "unsupported":
            field = step["field"]
            self.reply(400, api.error("invalid_request_error", f"Unsupported parameter: '{field}' is not supported with this model.", field))
        elif name == "bad_request":
            self.reply(400, api.error("invalid_request_error", step["message"]))
        elif name == "refused":  # as near as a server that listens can come to it
            self.abort()
        elif name == "half_closed":
            self.stream(stream, until=step.get("until", 0.5), ends=False)
        elif name == "reset":
            self.stream(stream, until=0.5, ends=False)
            self.abort()
        elif name == "malformed_sse":
            self.stream(b"data: {\"choices\": [{\"delta\"\n\ndata: nonsense\n\n")
        elif name == "garbage":
            self.wfile.write(b"\x00\xff no HTTP at all\r\n\r\n")
            self.close_connection = True
        elif name == "error_event":
            self.stream(stream[:len(stream) // 3].rpartition(b"\n\n")[0] + b"\n\n" + sse(api.error_event()))
        elif name == "empty":
            self.stream(b"".join(map(sse, api.events(body, [], "stop", (10, 0)))))
        elif name == "long":
            line = "x = x + 1;  // and so on\n"
            count = step.get("bytes", 200 * 1024) // len(line) + 1
            self.stream(b"".join(map(sse, api.events(body, [line * 64] * (count // 64 + 1), "stop", (10, count * 8)))))
        elif name in USELESS:
            self.answer(api, body, {"answer": USELESS[name]})
        elif name == "slow_stream":
            self.stream(stream, {"cut": step.get("cut", 1), "delay": step.get("delay", 0.05)})
        elif name == "stall":
            self.stream(stream, until=0.4, ends=False)
            time.sleep(step.get("seconds", 30))
        else:
            raise ValueError(f"there is no fault '{name}'")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


def start(plan=None):
    """A server in a thread of this process: (server, its base URL)."""
    handler = type("PlannedHandler", (Handler,), {"plan": Plan(plan or {})})
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def refused_url():
    """An address at which nobody listens: the port was just given back."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def main():
    _, url = start(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    print(json.dumps({"url": url, "refused_url": refused_url()}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
