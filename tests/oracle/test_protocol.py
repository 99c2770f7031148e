"""The protocol over real pipes: every request has one answer, and nothing that a problem does harms the next."""

import pytest
from oracle_rig import problem_text

ADD_ONE = {"forward": "return x + 1", "inputs": "[torch.randn(4, 8)]"}


def error_of(answer: dict) -> dict:
    assert answer["ok"] is False, answer
    assert set(answer["error"]) == {"kind", "message", "hint"}
    assert "Traceback" not in answer["error"]["message"] and "\n" not in answer["error"]["message"]
    return answer["error"]


def test_hello(process):
    answer = process.ask("hello")
    assert answer["ok"] and answer["result"]["protocol"] == 1
    assert set(answer["result"]) == {"protocol", "python", "torch", "threads", "pid"}
    assert answer["result"]["pid"] == process.child.pid


@pytest.mark.parametrize("line", ["{", "[1]", "7", "null", '{"id": 1}', '{"op": "hello"}', '{"id": [], "op": "hello"}',
                                  '{"id": 1, "op": "nothing"}', '{"id": 1, "op": []}', '{"id": 1, "op": "describe"}',
                                  '{"id": 1, "op": "describe", "problem": 3}', "[" * 100000,
                                  '{"id": 1, "op": "decompose", "problem": "x", "operations": [3]}',
                                  '{"id": 1, "op": "baseline_block", "handle": 99, "order": [0]}',
                                  '{"id": 1, "op": "baseline_load", "problem": "x", "folders": []}'])
def test_bad_requests_are_answered(process, line):
    assert error_of(process.send_line(line)[-1])["kind"] == "bad_request"
    assert process.ask("hello")["ok"]


def test_answer_has_the_requests_id(process):
    assert process.send_line('{"id": "seven", "op": "hello"}')[-1]["id"] == "seven"
    assert process.send_line('{"id": 71, "op": "nothing"}')[-1]["id"] == 71


@pytest.mark.parametrize("field, value", [("distribution", "odd"), ("weights", "heavy"), ("seed", -1), ("seed", "1"),
                                          ("precision", "fp4")])
def test_bad_choices_name_the_field(process, write, tmp_path, field, value):
    request = {"problem": write(**ADD_ONE), "seed": 1, "folder": str(tmp_path / "set"), field: value}
    error = error_of(process.ask("materialise", **request))
    assert error["kind"] == "bad_request" and field in error["message"]


def test_what_a_problem_prints_and_reads_stays_out(process, write):
    noisy = problem_text(**ADD_ONE) + (
        "import os, sys\nprint('{\"id\": 1}')\nos.write(1, b'raw\\n')\nsys.__stdout__.write('more\\n')\n"
        "assert sys.stdin.read() == ''\nos.system('echo from a child')\n")
    answer = process.ask("describe", problem=write(noisy))
    assert answer["ok"], answer
    assert process.ask("hello")["ok"]


def test_progress_comes_before_the_answer(process, write):
    messages = process.send_line('{"id": 5, "op": "describe", "problem": "%s"}' % write(**ADD_ONE))
    assert len(messages) > 1 and all(message["event"] == "progress" and message["id"] == 5 for message in messages[:-1])
    assert messages[-1]["ok"]


@pytest.mark.parametrize("ending", ["import sys; sys.exit(3)", "raise KeyError('gone')", "raise GeneratorExit"])
def test_a_problem_cannot_end_the_oracle(process, write, ending):
    error = error_of(process.ask("describe", problem=write(problem_text(**ADD_ONE) + ending + "\n")))
    assert error["kind"] == "bad_problem"
    assert process.ask("hello")["ok"]


def test_global_settings_of_a_problem_end_with_it(process, write):
    rude = problem_text(**ADD_ONE) + "torch.set_default_dtype(torch.float64)\ntorch.set_num_threads(1)\n"
    assert process.ask("describe", problem=write(rude))["result"]["inputs"][0]["dtype"] == "float64"
    assert process.ask("describe", problem=write(**ADD_ONE))["result"]["inputs"][0]["dtype"] == "float32"
