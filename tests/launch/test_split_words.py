from __future__ import annotations

import pytest

from mtpdoctor.errors import DoctorError
from mtpdoctor.launch import split


def refused(*words: str, **environment: str) -> DoctorError:
    with pytest.raises(DoctorError) as error:
        split(words, environment)
    return error.value


def test_assignments_before_the_program_are_its_environment() -> None:
    command = split(("LLAMA_ARG_NP=1", "CUDA_VISIBLE_DEVICES=", "/opt/llama-server", "-m", "A=b"))

    assert command.environment == {"LLAMA_ARG_NP": "1", "CUDA_VISIBLE_DEVICES": ""}
    assert command.words == ("/opt/llama-server", "-m", "A=b")
    assert command.start == 1


def test_env_with_nothing_but_assignments_is_taken_as_assignments() -> None:
    command = split(("env", "A=b", "llama-server", "-m", "x"))

    assert (command.environment, command.program) == ({"A": "b"}, "llama-server")


def test_only_what_llama_server_reads_is_inherited_and_what_is_typed_wins() -> None:
    inherited = {"LLAMA_ARG_MODEL": "old", "HF_TOKEN": "t", "PATH": "/bin"}
    command = split(("LLAMA_ARG_MODEL=new", "llama-server"), inherited)

    assert command.environment == {"LLAMA_ARG_MODEL": "new", "HF_TOKEN": "t"}
    assert command.inherited == {"LLAMA_ARG_MODEL": "old", "HF_TOKEN": "t"}


def test_flags_alone_mean_llama_server() -> None:
    command = split(("-m", "x", "--spec-type", "draft-mtp"))

    assert command.words == ("llama-server", "-m", "x", "--spec-type", "draft-mtp")


@pytest.mark.parametrize("second", ["serve", "server"])
@pytest.mark.parametrize("program", ["llama", "/usr/bin/llama", "C:\\llama\\llama.exe"])
def test_llama_serve_is_llama_server(program: str, second: str) -> None:
    command = split((program, second, "-m", "x"))

    assert command.start == 2
    assert command.arguments == ("-m", "x")


@pytest.mark.parametrize(
    "program",
    ["llama-server.exe", "C:\\x\\llama-server.exe", "llama-server-vulkan", "./server", "my-build"],
)
def test_any_name_may_be_the_server(program: str) -> None:
    assert split((program, "-m", "x")).program == program


@pytest.mark.parametrize("program", ["docker", "podman", "/usr/bin/docker"])
def test_a_container_is_named(program: str) -> None:
    error = refused(program, "run", "ghcr.io/ggml-org/llama.cpp:server", "-m", "x")

    assert "container" in error.says
    assert "in the container" in error.hint


@pytest.mark.parametrize(
    "before",
    [
        ("sudo",),
        ("nohup",),
        ("numactl", "--interleave=all"),
        ("taskset", "-c", "0-7"),
        ("systemd-run", "--user"),
        ("env", "-u", "X"),
        ("bash", "-c"),
    ],
)
def test_a_wrapper_is_refused_with_the_command_inside_it(before: tuple[str, ...]) -> None:
    error = refused(*before, "/opt/llama-server", "-m", "my model.gguf", "--api-key", "secret")

    assert before[0] in error.says
    assert error.hint == (
        "give that alone: mtpdoctor -- /opt/llama-server -m 'my model.gguf' --api-key '***'"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("ollama", "serve"),
        ("koboldcpp", "--model", "x"),
        ("python", "-m", "llama_cpp.server"),
        ("python3.12", "-m", "llama_cpp.server"),
        ("llama-cli", "-m", "x"),
        ("llama-bench", "-m", "x"),
        ("llama", "run", "x"),
    ],
)
def test_another_program_is_refused(words: tuple[str, ...]) -> None:
    assert words[0] in refused(*words).says


@pytest.mark.parametrize(
    "words",
    [
        ("llama-server", "--models-dir", "models"),
        ("llama-server", "--models_dir", "models", "-np", "1"),
        ("llama-server", "--models-preset=x.ini"),
        ("LLAMA_ARG_MODELS_DIR=x", "llama-server"),
    ],
)
def test_a_router_is_refused(words: tuple[str, ...]) -> None:
    assert "router" in refused(*words).says


def test_a_model_beside_a_folder_of_models_is_no_router() -> None:
    """Measured: the server loads that one model."""
    assert split(("llama-server", "-m", "x", "--models-dir", "models")).arguments[:2] == ("-m", "x")


def test_a_command_without_a_model_is_the_start_of_a_router() -> None:
    error = refused("llama-server", "--spec-type", "draft-mtp")

    assert "names no model" in error.says
    assert "-m FILE" in error.hint


@pytest.mark.parametrize(
    "words",
    [
        ("llama-server", "-hf", "a/b"),
        ("llama-server", "--model=x"),
        ("llama-server", "--fim-qwen-7b-spec"),
        ("LLAMA_ARG_HF_REPO=a/b", "llama-server"),
    ],
)
def test_a_model_may_be_named_in_any_way(words: tuple[str, ...]) -> None:
    assert split(words).program == "llama-server"


def test_no_words_and_assignments_alone_are_refused() -> None:
    assert "no program" in refused().says
    assert "no program" in refused("A=b").says


def test_a_nul_character_is_refused() -> None:
    assert "NUL" in refused("llama-server", "-m", "a\0b").says


@pytest.mark.parametrize(
    "flag", ["-h", "--help", "--usage", "--version", "--list_devices", "-cl", "--completion-bash"]
)
def test_a_command_that_only_prints_is_refused(flag: str) -> None:
    error = refused("llama-server", "-m", "x", "--mlock", flag)

    assert error.says.startswith("this command only prints ")
    assert error.hint == f"leave {flag} out"


def test_a_question_that_is_the_value_of_a_flag_is_none() -> None:
    """Measured: the server takes the word behind -a for a name, whatever it looks like."""
    assert split(("llama-server", "-m", "x", "-a", "--help")).arguments[-1] == "--help"


def test_a_command_in_quotes_is_one_word() -> None:
    error = refused("llama-server -m 'my model.gguf' --api-key secret")

    assert error.says == "the command is one word"
    assert error.hint.startswith("leave out the quotes around it: mtpdoctor -- llama-server -m 'my")
    assert "secret" not in error.hint


def test_a_quoted_command_behind_an_assignment_is_one_word_too() -> None:
    assert refused("A=b", "llama-server -m x").says == "the command is one word"


def test_blanks_in_the_path_of_a_program_are_no_quoted_command() -> None:
    assert split(("/opt/my server/llama-server", "-m", "x")).program.startswith("/opt/my server")
