# SPDX-License-Identifier: Apache-2.0
"""asyncio tasks that come and go all the time, until it is killed: they wait some times in a nested call, and end."""
import asyncio


async def nap():
    await asyncio.sleep(0)


async def deep(n):
    if n:
        await deep(n - 1)
    else:
        await nap()


async def short(n):
    for i in range(n % 7):
        await deep(i)


async def main():
    print('ready', flush=True)
    n = 0
    while True:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(50):
                n += 1
                tasks.create_task(short(n), name=f'short {n}' if n % 2 else None)
            await nap()


if __name__ == '__main__':
    asyncio.run(main())
