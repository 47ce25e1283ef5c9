# SPDX-License-Identifier: Apache-2.0
"""Three quarters of the time in one asyncio task, a quarter in another, which do the same by turns, in parts of a function."""
import asyncio
import sys


def work(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


async def works(n):
    for _ in range(250):
        work(n)
        await asyncio.sleep(0)


async def main():
    print('ready', flush=True)
    sys.stdin.readline()
    more = asyncio.create_task(works(60000), name='more')
    less = asyncio.create_task(works(20000))        # it is named by its function
    await asyncio.gather(more, less)


if __name__ == '__main__':
    asyncio.run(main())
