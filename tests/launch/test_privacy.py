from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.launch import mask_text, masked, masked_environment, redact


@pytest.mark.parametrize(
    "flag", ["--api-key", "--api_key", "--hf-token", "-hft", "--apikey", "--some-password"]
)
def test_the_word_after_a_credentials_flag_is_masked(flag: str) -> None:
    assert masked(["x", flag, "secret", "-m", "y"]) == ("x", flag, "***", "-m", "y")


@pytest.mark.parametrize("flag", ["--api-key", "HF_TOKEN", "LLAMA_API_KEY", "--hf-token"])
def test_a_joined_value_is_masked(flag: str) -> None:
    assert masked([f"{flag}=secret"]) == (f"{flag}=***",)


@pytest.mark.parametrize(
    "words",
    [
        ("--api-key-file", "/etc/keys"),
        ("--ssl-key-file", "/etc/key.pem"),
        ("--image-max-tokens", "4"),
        ("--override-kv", "tokenizer.ggml.add_bos_token=bool:false"),
        ("-m", "monkey=1.gguf"),
        ("--spec-draft-n-max", "4"),
    ],
)
def test_what_is_no_credential_stays(words: tuple[str, ...]) -> None:
    assert masked(words) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@host/x", "https://***@host/x"),
        ("https://host/x?token=abc&y=1", "https://host/x?token=***&y=1"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("see hf_abcdefghijk there", "see *** there"),
        ('{"headers":{"Authorization":"x y"}}', '{"headers":{"Authorization":"***"}}'),
        ("https://host/a@b", "https://host/a@b"),
    ],
)
def test_credentials_inside_a_text_are_masked(text: str, shown: str) -> None:
    assert mask_text(text) == shown


def test_the_environment_is_masked_by_name_and_by_look() -> None:
    environment = {
        "HF_TOKEN": "a",
        "LLAMA_API_KEY": "b",
        "LLAMA_ARG_API_KEY_FILE": "/k",
        "LLAMA_ARG_MODEL_URL": "https://u:p@h/x",
        "LLAMA_ARG_IMAGE_MAX_TOKENS": "4",
    }

    assert masked_environment(environment) == {
        "HF_TOKEN": "***",
        "LLAMA_API_KEY": "***",
        "LLAMA_ARG_API_KEY_FILE": "/k",
        "LLAMA_ARG_MODEL_URL": "https://***@h/x",
        "LLAMA_ARG_IMAGE_MAX_TOKENS": "4",
    }


@given(st.lists(st.text(max_size=12)))
def test_masking_keeps_the_number_of_words_and_is_done_after_once(words: list[str]) -> None:
    once = masked(words)

    assert len(once) == len(words)
    assert masked(once) == once


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ann/models/a.gguf", "~/models/a.gguf"),
        ("-m '/home/ann/my models'", "-m '~/my models'"),
        ("/Users/ann/x", "~/x"),
        ("/root/x, /root", "~/x, ~"),
        ("C:\\Users\\ann\\x", "~\\x"),
        ("C:\\Users\\Ann Lee\\x", "~\\x"),
        ('"C:\\\\Users\\\\ann\\\\x"', '"~\\\\x"'),
        ("c:/Users/ann/x", "~/x"),
        ("/mnt/c/Users/ann/x", "~/x"),
        ("file:///home/ann/x", "file://~/x"),
        ("A=/home/ann:/home/bob/x", "A=~:~/x"),
        ("/data/home/ann", "/data/home/ann"),
        ("/rootfs /root.txt", "/rootfs /root.txt"),
        ("/home/", "/home/"),
    ],
)
def test_home_folders_become_a_tilde(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_ones_own_home_is_redacted_wherever_it_lies() -> None:
    assert (
        redact("/srv/people/ann/x /srv/people/anna", "/srv/people/ann/") == "~/x /srv/people/anna"
    )


@given(st.text(max_size=60))
def test_any_text_can_be_redacted_and_once_is_enough(text: str) -> None:
    assert redact(redact(text)) == redact(text)
