# SPDX-License-Identifier: Apache-2.0
"""What is asked of a dataset of many hosts (see collect.py), in SQL that DuckDB and Spark both take: {rows} is a number."""
import json

QUESTIONS = {
    'Who switched most?': '''
        select host, prev_comm as command, count(*) as switches
        from events where event = 'sched:sched_switch'
        group by all order by switches desc, host, command limit {rows}''',
    # From the wake-up, or from losing the CPU, until it runs.
    'Who waited for a CPU?': '''
        select host, comm as command, count(*) as waits,
               cast(percentile_disc(0.99) within group (order by duration) as double) / 1000 as p99_us,
               cast(max(duration) as double) / 1000 as max_us
        from events where event = 'rundelay'
        group by all order by p99_us desc, host, command limit {rows}''',
    'Which stacks took CPU time, of all hosts?': '''
        select folded as stack, count(*) as samples, count(distinct host) as hosts
        from events join stacks using (host, _stack) where event = 'cpu-clock' and _tid <> 0
        group by all order by samples desc, stack limit {rows}''',
    'What was lost?': '''
        select host, event, cast(sum(_lost) as bigint) as lost
        from events where event like 'lost:%'
        group by all order by lost desc, host, event limit {rows}''',
}

FLAME_GRAPH = QUESTIONS['Which stacks took CPU time, of all hosts?'].replace('limit {rows}', '')


def ask(query, rows):
    """query(SQL): a list of dicts. The answers, by question."""
    return {question: query(sql.format(rows=rows)) for question, sql in QUESTIONS.items()}


def show(answers, as_json):
    if as_json:
        print(json.dumps(answers))
        return
    for question, rows in answers.items():
        print(question)
        for row in rows or [{'': 'nothing'}]:
            print('  ' + '  '.join(f'{name} {value}'.strip() for name, value in row.items()))
