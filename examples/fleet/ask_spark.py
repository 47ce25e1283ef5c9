#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries a dataset of many hosts (see collect.py) with Spark: the same questions as ask.py, with the same answers.

    ask_spark.py DATASET --json
    ask_spark.py s3a://bucket/events --master spark://host:7077

By default two workers run here, each in a process of its own. Needs pyspark (pip install pyspark) and Java 17.
If pyspark does not find its files, SPARK_HOME says where they are.
"""
import argparse

from pyspark.sql import SparkSession

import questions

parser = argparse.ArgumentParser(description='Asks a dataset of many hosts, by Spark.')
parser.add_argument('dataset', help='the folder that collect.py wrote, or its URL')
parser.add_argument('--master', default='local-cluster[2,1,1024]',
                    help='the cluster; default: two workers of one CPU and 1 GiB here (%(default)s)')
parser.add_argument('--rows', type=int, default=10, help='rows of each answer; default: %(default)s')
parser.add_argument('--json', action='store_true', help='one object, for programs')
options = parser.parse_args()

spark = SparkSession.builder.appName('fleet').master(options.master).config('spark.ui.enabled', 'false').getOrCreate()
spark.sparkContext.setLogLevel('ERROR')
# mergeSchema: each kind of event has columns of its own
spark.read.option('mergeSchema', 'true').parquet(options.dataset).createOrReplaceTempView('events')
spark.read.parquet(f'{options.dataset}-stacks').createOrReplaceTempView('stacks')
answers = questions.ask(lambda sql: [row.asDict() for row in spark.sql(sql).collect()], options.rows)
spark.stop()
questions.show(answers, options.json)
