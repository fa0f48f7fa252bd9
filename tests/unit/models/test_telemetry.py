from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MakeFolder = Callable[..., Path]

_OURS = """
import sys
from pathlib import Path
from pincite.models.local import LocalEmbedder
LocalEmbedder(Path(sys.argv[1])).embed_question("red")
"""
_NAIVE = """
import sys
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1] + "/model.onnx", providers=["CPUExecutionProvider"])
"""


def _written_at_home(code: str, model: Path, home: Path) -> list[str]:
    """What a process leaves in an empty home folder."""
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    subprocess.run(
        [sys.executable, "-c", code, str(model)], env={**kept, "HOME": str(home)}, check=True
    )
    return [path.name for path in home.rglob("*") if path.is_file()]


def test_a_local_model_keeps_no_record_of_its_use(make_folder: MakeFolder, tmp_path: Path) -> None:
    model = make_folder(tmp_path / "model")
    assert _written_at_home(_OURS, model, tmp_path / "home") == []


def test_onnxruntime_left_alone_would_keep_one(make_folder: MakeFolder, tmp_path: Path) -> None:
    model = make_folder(tmp_path / "model")
    assert "onnxruntime.db" in _written_at_home(_NAIVE, model, tmp_path / "home")
