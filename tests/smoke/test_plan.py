"""The commands that a smoke run starts: the user's own, but for where they listen."""

from __future__ import annotations

import pytest
from smoke.driving import launch_of

from mtpdoctor.smoke.plan import REQUESTS, Ask, Settings, body, command, environment, fits

OURS = ("--host", "127.0.0.1", "--port", "4711")


def words_for(*words: str) -> tuple[str, ...]:
    return command(launch_of("llama-server", *words), binary="/opt/llama-server", port=4711)


def test_the_users_words_stay_in_their_order_and_spelling() -> None:
    kept = ("-m", "a b.gguf", "-np", "3", "-c", "8192", "-fa", "off", "--bogus")

    assert words_for(*kept) == ("/opt/llama-server", *kept, *OURS)


@pytest.mark.parametrize(
    "words",
    [
        ("--host", "0.0.0.0"),
        ("--port", "80", "--reuse-port"),
        ("--api-key", "secret"),
        ("--api-key-file", "keys"),
        ("--api-prefix", "/v9"),
        ("--ssl-key-file", "k", "--ssl-cert-file", "c"),
        ("--log-file", "production.log"),
        ("--log-disable",),
        ("--log-prompts-dir", "prompts"),
    ],
)
def test_what_would_expose_overwrite_or_blind_is_left_out(words: tuple[str, ...]) -> None:
    assert words_for("-m", "x", *words) == ("/opt/llama-server", "-m", "x", *OURS)


def test_llama_serve_keeps_its_word() -> None:
    launch = launch_of("llama", "serve", "-m", "x")

    assert command(launch, binary="/opt/llama", port=4711)[:3] == ("/opt/llama", "serve", "-m")


def test_the_environment_keeps_the_users_settings_and_gets_our_key() -> None:
    launch = launch_of(
        "LLAMA_ARG_CTX_SIZE=4096",
        "LLAMA_ARG_HOST=0.0.0.0",
        "LLAMA_ARG_PORT=80",
        "LLAMA_ARG_LOG_FILE=x",
        "LLAMA_API_KEY=theirs",
        "llama-server",
        "-m",
        "x",
    )
    found = environment(
        launch, key="ours", inherited={"PATH": "/bin", "LLAMA_ARG_SPEC_TYPE": "draft-mtp"}
    )

    assert found == {
        "PATH": "/bin",
        "LLAMA_ARG_CTX_SIZE": "4096",
        "LLAMA_API_KEY": "ours",
        "GGML_NO_BACKTRACE": "1",
    }


@pytest.mark.parametrize(("context", "length"), [(None, 1200), (4096, 1200), (512, 320), (64, 1)])
def test_a_prompt_is_cut_to_what_the_context_holds(context: int | None, length: int) -> None:
    ask = Ask(name="long", text="x", predict=128, prompt=1200)
    prompt = body(ask, tuple(range(2000)), context)["prompt"]

    assert isinstance(prompt, list)
    assert len(prompt) == length


def test_the_requests_are_those_that_meet_real_trouble() -> None:
    by_name = {ask.name: ask for ask in REQUESTS}

    assert by_name["long-prompt"].prompt > 1100
    assert by_name["generate"].predict >= 128
    assert by_name["again"].cached
    assert by_name["again"].text == by_name["generate"].text
    assert by_name["parallel"].parallel == 2
    assert {ask.name for ask in REQUESTS if ask.free} == {"generate", "again"}


def test_rounds_are_data() -> None:
    assert Settings(rounds=("plain", "mtp", "mtp", "plain")).steps == 2 * Settings().steps


@pytest.mark.parametrize(
    ("context", "shared", "room"),
    [(4096, True, True), (300, True, False), (300, False, True), (200, False, False)],
)
def test_requests_at_once_need_room_in_the_cache_that_they_share(
    context: int, shared: bool, room: bool
) -> None:
    ask = Ask(name="parallel", text="", predict=64, parallel=2)

    assert fits(ask, 100, context, shared=shared) is room
