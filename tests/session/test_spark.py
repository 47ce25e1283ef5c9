# SPDX-License-Identifier: Apache-2.0
"""examples/fleet on Spark's local cluster, two workers in processes of their own: the answers are those of DuckDB."""
import json
import os
import shutil

import pytest

pytestmark = pytest.mark.live

SPARK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'readers', 'spark')
HOSTS = [f'web-{n}' for n in range(1, 9)]


@pytest.mark.deep
@pytest.mark.slow
def test_duckdb_and_spark_agree(tmp_path, fleet_of):
    if not shutil.which('java'):
        pytest.skip('needs Java (default-jre-headless)')
    if not os.path.exists(os.path.join(SPARK, '.installed')):
        pytest.skip('needs pyspark (tools/install-spark)')
    run = fleet_of(tmp_path, HOSTS)
    asked = tmp_path / 'set', '--json', '--rows', 1000000
    known = json.loads(run('ask.py', *asked))
    assert {row['host'] for row in known['Who switched most?']} == {row['host'] for row in known['Who waited for a CPU?']} == set(HOSTS)
    # only loopback
    found = json.loads(run('ask_spark.py', *asked, PYTHONPATH=SPARK, SPARK_HOME=os.path.join(SPARK, 'deps'), SPARK_LOCAL_IP='127.0.0.1',
                           SPARK_LOCAL_DIRS=str(tmp_path), SPARK_WORKER_DIR=str(tmp_path / 'work'), timeout=900))
    for question, rows in known.items():
        for row, same in zip(rows, found[question], strict=True):
            assert row == pytest.approx(same)
