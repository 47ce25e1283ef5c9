# SPDX-License-Identifier: Apache-2.0
"""asyncio tasks that stay where they are known to be: below a TaskGroup, a gather() and an asynchronous generator, each other's
waiters, one that has not begun, and one that runs. Says "ready" when all are there."""
import asyncio


async def leaf(event):
    await event.wait()                      # line 8


async def middle(event):
    await leaf(event)                       # line 12


async def numbers(event):
    await leaf(event)                       # line 16
    yield 1


async def iterate(event):
    async for _ in numbers(event):          # line 21
        pass


async def group(event):
    async with asyncio.TaskGroup() as tasks:        # line 26
        tasks.create_task(middle(event), name='in the\x1b[31m group')
        tasks.create_task(iterate(event), name='iterates')


async def gathers(event):
    await asyncio.gather(middle(event), leaf(event))    # line 32


async def waits_for(task):
    await task                              # line 36


def spin():
    print('ready', flush=True)
    while True:                             # line 41
        pass                                # line 42


async def run():
    await asyncio.sleep(0)
    asyncio.create_task(waits_for(None), name='new')
    spin()                                  # line 48


async def main():
    event = asyncio.Event()
    first = asyncio.create_task(group(event), name='groups')
    asyncio.create_task(gathers(event), name='gathers')
    asyncio.create_task(waits_for(first), name='other')
    for _ in range(10):                     # until all wait
        await asyncio.sleep(0)
    await asyncio.create_task(run(), name='runs')       # line 58


if __name__ == '__main__':
    asyncio.run(main())                     # line 62
