from __future__ import annotations

from typing import Any

import pytest

from graphstore.readers.call_site import call_sites, is_persons

TORCH = "/opt/venv/lib/python3.11/site-packages/torch/"


def stack(*names: str) -> list[dict[str, Any]]:
    """Return frames of these files, innermost first, at lines 1, 2 …"""
    return [{"name": "f", "filename": name, "line": line} for line, name in enumerate(names, 1)]


@pytest.mark.parametrize(
    "name",
    [
        TORCH + "distributed/distributed_c10d.py",
        "/usr/lib/python3/dist-packages/torch/nn/modules/module.py",
        "/home/me/pytorch/torch/distributed/c10d_logger.py",
        "torch/_dynamo/eval_frame.py",
        "/usr/lib/python3.11/multiprocessing/process.py",
        "/usr/lib64/python3.9/threading.py",
        r"C:\Python311\Lib\runpy.py",
        "/opt/venv/lib/python3.11/site-packages/typing_extensions.py",
        "/somewhere/contextlib.py",
        "<string>",
        "<frozen importlib._bootstrap>",
        "<eval_with_key>.7",
        "/build/torch/csrc/ProcessGroupNCCL.cpp",
        "??",
        "",
    ],
)
def test_frames_of_torch_and_python_are_nobodys(name: str) -> None:
    """Wrappers, generated code and C++ frames as well."""
    assert not is_persons(name)


@pytest.mark.parametrize(
    "name",
    [
        "/home/me/job/train.py",
        "/home/me/torch/train.py",
        "/home/me/torch_utils/distributed.py",
        "/opt/venv/lib/python3.11/site-packages/megatron/core/tensor_parallel/mappings.py",
        "/opt/venv/lib/python3.11/site-packages/torchtitan/train.py",
        r"C:\Python311\Lib\site-packages\deepspeed\comm\torch.py",
        "/home/me/lib/python/train.py",
        "/home/me/Lib/train.py",
        "/tmp/ipykernel_7/123.py",
        "<stdin>",
        "<ipython-input-3-abc>",
        "train",
    ],
)
def test_all_other_frames_are_a_persons(name: str) -> None:
    """Libraries over torch count: that is where the call was written."""
    assert is_persons(name)


def test_the_site_is_the_first_frame_of_a_person() -> None:
    """From the call outwards; a stack of torch alone has none."""
    stacks = [
        stack(TORCH + "distributed/distributed_c10d.py", "/home/me/train.py", "/home/me/main.py"),
        stack(TORCH + "distributed/distributed_c10d.py", r"C:\job\train.py"),
        stack(TORCH + "autograd/graph.py"),
        [],
        None,
    ]

    assert call_sites(stacks) == ["train.py:2", "train.py:2", None, None, None]


def test_shared_frames_and_stacks_give_each_entry_its_site() -> None:
    """Torch shares the frames, tools that write pickles share whole stacks."""
    inner, outer = stack("/home/me/a.py", "/home/me/b.py")
    torch_frame = stack(TORCH + "nn/functional.py")[0]
    shared = [torch_frame, outer]

    assert call_sites([[torch_frame, inner], shared, shared, [inner]]) == [
        "a.py:1",
        "b.py:2",
        "b.py:2",
        "a.py:1",
    ]
