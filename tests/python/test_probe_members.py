# SPDX-License-Identifier: Apache-2.0
"""Arguments of probes behind pointers: members of results, memory of USDT arguments; and functions without a place to probe."""
import os
import re
import subprocess

import pytest

from frame.session import ran

pytestmark = pytest.mark.live('tracefs', 'root')

SHOP = r'''
#include <sys/sdt.h>
namespace shop {
struct Item { int id; unsigned bits : 3; int tags[3]; Item *next; const char *name; };
__attribute__((noinline)) Item *find(Item *i) { __asm__ volatile("" : "+r"(i)); return i; }
__attribute__((noinline)) Item made(int id) { Item item{}; item.id = id; return item; }
__attribute__((noinline)) void nothing(int n) { __asm__ volatile("" : : "r"(n)); }
inline __attribute__((always_inline)) int within(int n) { __asm__ volatile("" : "+r"(n)); return n + 3; }
}
static inline __attribute__((always_inline)) int within_c(int n) { __asm__ volatile("" : "+r"(n)); return n * 3; }
struct Base { int deep; };
struct Derived : virtual Base { int flat; };
extern "C" __attribute__((noinline)) int taken(Derived *d) { __asm__ volatile("" : : "r"(d) : "memory"); return d->flat; }
int main(int argc, char **argv)
{
	Derived derived{};
	shop::Item second{22, 2, {4, 5, 6}, nullptr, "second"}, first{11, 1, {1, 2, 3}, &second, "first"};
	int n = shop::within(argc) + within_c(argc) + shop::made(7).id + taken(&derived);

	shop::nothing(n);
	DTRACE_PROBE3(test, item, shop::find(&first), argc, 5);
	return 0;
}
'''


@pytest.fixture(scope='module')
def shop(need, tmp_path_factory):
    need('elfutils')
    if not os.path.exists('/usr/include/x86_64-linux-gnu/sys/sdt.h') or os.uname().machine != 'x86_64':
        pytest.skip('needs <sys/sdt.h> (systemtap-sdt-dev) and x86-64')
    folder = tmp_path_factory.mktemp('shop')
    (folder / 'shop.cc').write_text(SHOP)
    subprocess.run(['g++', '-g', '-O1', '-o', 'shop', 'shop.cc'], cwd=folder, check=True)
    return folder


def traced(prof, shop, event, code=0):
    done = ran([prof, 'trace', '-e', event, '--', './shop'], cwd=shop)
    assert done.returncode == code, done
    return done.stderr if code else done.stdout


PLACES = '''
#include <sys/sdt.h>
#define NOINLINE __attribute__((noinline))
NOINLINE void f1(int i)  { DTRACE_PROBE1(app, step, i); }
NOINLINE void f2(long i) { DTRACE_PROBE1(app, step, i); }
NOINLINE void g1(int i)  { DTRACE_PROBE1(app, pair, i); }
NOINLINE void g2(int i)  { DTRACE_PROBE2(app, pair, i, i + 1); }
NOINLINE void whole(int i) { __asm__ volatile("" : : "r"(i)); }
void copy(int i) __asm__("whole.isra.0");       /* what compilers call a copy, */
void piece(int i) __asm__("pieces.part.0");     /* and a piece */
NOINLINE void copy(int i) { __asm__ volatile("" : : "r"(i)); }
NOINLINE void piece(int i) { __asm__ volatile("" : : "r"(i)); }
int main(void) { f1(-1); f2(-2); g1(3); g2(4); whole(5); copy(6); piece(7); return 0; }
'''


@pytest.fixture
def places(shop):
    (shop / 'places.c').write_text(PLACES)
    subprocess.run(['gcc', '-g', '-O1', '-o', 'places', 'places.c'], cwd=shop, check=True)
    return lambda prof, event: ran([prof, 'trace', '-e', event, '--', './places'], cwd=shop)


@pytest.mark.parametrize('event, fields, told', [
    ('usdt:app:step@./places', ['arg1=-1', 'arg1=-2'], ''),
    ('usdt:app:pair@./places', ['arg1=3', 'arg1=4 arg2=5'], ''),
    ('uprobe:whole@./places', ['', ''], ''),
    ('uprobe:whol*@./places', ['', ''], ''),
    ('uprobe:whole@./places//args="i"/', ['i=5', 'i=6'], ''),
    ('uprobe:whole@./places//args="i=$arg1:s32"/', ['i=5'], 'calls of whole.isra.0, a copy of whole, are not seen: $arg1 to $arg6 are not'),
    ('uprobe:piecs@./places', [], 'has no function piecs'),
])
def test_places_of_one_name(prof, places, event, fields, told):
    done = places(prof, event)
    assert re.findall(r': \(\w+\) ?(.*)$', done.stdout, re.M) == fields, done
    assert told in done.stderr and bool(told) == bool(done.stderr) and 'did you mean uprobe:pieces@' not in done.stderr, done


def test_members_of_the_result(prof, shop):
    text = traced(prof, shop, "uretprobe:shop::find@./shop//args='ret->id what=ret->name next=ret->next->id'/")
    assert re.search(r'\) id=11 what="first" next=22$', text, re.M)
    assert re.search(r'\) id=7$', traced(prof, shop, "uretprobe:shop::made@./shop//args='ret.id'/"), re.M)


def test_memory_behind_an_argument_of_a_usdt_probe(prof, shop):
    text = traced(prof, shop, "usdt:test:item@./shop//args='id=+0(arg1):s32 next=+0(+24(arg1)):s32 n=arg2'/")
    assert re.search(r'\) id=11 next=22 n=1$', text, re.M)


@pytest.mark.parametrize('event, message, expected', [
    ("uretprobe:shop::find@./shop//args='ret->nosuch'/", 'cannot fetch ret->nosuch of shop::find: there is no such member',
     'a member of the structure'),
    ("uretprobe:shop::find@./shop//args='i'/", 'when a function returns, only its result has a value', 'ret, or a member of it'),
    ("uretprobe:shop::nothing@./shop//args='ret->id'/", 'the function returns nothing', 'ret, or'),
    ("usdt:test:item@./shop//args='a=+0(arg2):s32'/", 'arg2 of test:item is a number, not an address', 'an argument that is'),
    ("usdt:test:item@./shop//args='a=+0(arg4):s32'/", 'arg4 of test:item does not exist', 'an argument that is'),
    ("uprobe:taken@./shop//args='d->deep'/", 'it is in a virtual base, whose place is known only at run time', 'a member outside'),
    ('uprobe:shop::within@./shop', './shop has no separate code for shop::within: the compiler inlined it', 'a function that calls it'),
    ("uprobe:'shop::within(int)'@./shop", './shop has no separate code for shop::within(int):', 'a function that calls it'),
    ('uprobe:within_c@./shop', './shop has no separate code for within_c:', 'a function that calls it'),
])
def test_what_cannot_be_fetched(prof, shop, event, message, expected):
    said = traced(prof, shop, event, code=2)
    assert message in said and f'expected: {expected}' in said


CLONES = '''
struct Bill { int a, b; __attribute__((noinline)) static int pay(const Bill &x, int unused) { return x.a * 3; } };
volatile int sum;
int main(int argc, char **) { Bill b{argc, 2}; sum += Bill::pay(b, 2); }
'''


def test_copies_that_the_compiler_made(prof, tmp_path):
    """The function itself has no code, but it was not inlined."""
    (tmp_path / 'bill.cc').write_text(CLONES)
    subprocess.run(['g++', '-g', '-O2', '-o', 'shop', 'bill.cc'], cwd=tmp_path, check=True)
    names = ran(['nm', '-C', 'shop'], cwd=tmp_path, check=True).stdout
    copy = re.search(r' (Bill::pay\(Bill const&, int\) \[clone .*)$', names, re.M)
    if not copy:
        pytest.skip('needs a compiler that makes copies of functions without unused parameters')
    for name in 'Bill::pay', "'Bill::pay(Bill const&, int)'", f"'{copy[1]}'":
        assert 'uprobe:Bill::pay' in traced(prof, tmp_path, f'uprobe:{name}@./shop'), name
    assert 'did you mean uprobe:Bill::pay@./shop?' in traced(prof, tmp_path, 'uprobe:Bill::pya@./shop', code=2)
