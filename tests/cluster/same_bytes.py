"""Runs on several ranks leave what one process leaves, byte for byte but for times.

    same_bytes.py MPIRUN CLUSTER_RUNS
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
from run_folder import differences, left_by  # noqa: E402

mpirun, program = sys.argv[1:3]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([mpirun, "--oversubscribe", "--bind-to", "none", "-n", "5", program, folder], check=True,
                   timeout=280)
    compared = 0
    for experiment in sorted(Path(folder).glob("experiment-*")):
        expected = left_by(experiment / "alone")
        assert any(file.startswith("adapter/client") for file in expected), experiment
        assert len(expected["metrics.jsonl"]) == 3, experiment
        for run in sorted(experiment.iterdir()):
            found = differences(left_by(run), expected)
            assert not found, f"{run.relative_to(folder)} differs from one process: {found}"
            compared += run.name != "alone"
    print(f"{compared} runs on several ranks are as those of one process")
    assert compared >= 8 * 9, compared
