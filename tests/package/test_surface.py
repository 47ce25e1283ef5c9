# SPDX-License-Identifier: Apache-2.0
"""Header, symbol map, shared library and manual pages name the same functions."""
import os
import re

import pytest

import header
from conftest import ROOT, need, run

MAP = os.path.join(ROOT, 'src/perfevent/libperfevent.map')


def in_map():
    with open(MAP) as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    return re.findall(r'\b(pev_\w+);', text)


def exported(so):
    done = run(['nm', '-D', '--defined-only', so])
    assert done.returncode == 0, done.stderr
    return [line.split()[-1] for line in done.stdout.splitlines() if line.split()[1] != 'A']


def test_the_reader_of_headers_misses_none():
    """What tools/header.py finds is every word behind PEV_API."""
    count = 0
    for path in header.parts():
        with open(path) as f:
            text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
        count += len(re.findall(r'^PEV_API\b', text, re.M))
    assert count == len(header.functions()) > 100


def test_every_header_is_part_of_the_whole():
    folder = os.path.join(header.INCLUDE, 'perfevent')
    assert sorted(f'perfevent/{n}' for n in os.listdir(folder)) == sorted(
        os.path.relpath(p, header.INCLUDE) for p in header.parts())


def test_map_and_header():
    names = in_map()
    assert len(names) == len(set(names))
    assert sorted(names) == sorted(header.functions())


def test_library_exports_the_map_and_nothing_else(installed):
    names = exported(installed.so)
    assert sorted(n.split('@')[0] for n in names) == sorted(in_map())
    assert all('@@LIBPERFEVENT_' in n for n in names)


def test_the_library_calls_nothing_that_threads_share(installed):
    """attributes(7): unsafe for threads, or state of the process that a library leaves alone."""
    shared = set('asctime basename ctime dlerror endgrent endpwent getgrent getgrgid getgrnam getmntent '
                 'getopt getpwent getpwnam getpwuid gmtime hcreate hsearch localtime lgamma ptsname putenv '
                 'rand setenv setlocale sigaction signal srand strsignal strtok ttyname umask unsetenv '
                 'chdir fork system popen exit printf puts fprintf perror vprintf vfprintf'.split())
    done = run(['nm', '-D', '--undefined-only', installed.so])
    assert done.returncode == 0, done.stderr
    called = {line.split()[-1].split('@')[0] for line in done.stdout.splitlines()}
    assert 'malloc' in called and not called & shared


def test_every_public_function_says_what_it_does():
    silent = [n for n, item in header.functions().items() if not item.doc]
    assert silent == []


def pages(installed, section):
    folder = os.path.join(installed.man, f'man{section}')
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as f:
            yield name[:-2], f.read()


def test_every_function_has_a_page_and_every_page_a_function(installed):
    assert [name for name, _ in pages(installed, 3)] == sorted(header.functions())


def test_pages_refer_to_pages_that_name_them(installed):
    found = dict(pages(installed, 3))
    for name, text in found.items():
        target = re.match(r'\.so man3/(\w+)\.3\n$', text)
        if target:
            assert not found[target.group(1)].startswith('.so'), name
            text = found[target.group(1)]
        names = re.search(r'^\.SH NAME\n(.*) \\- ', text, re.M).group(1)
        assert name in names.replace('\\e', '').split(', '), name


def test_pages_that_are_referred_to_exist(installed):
    have = {f'{n}({s})' for s in (3, 7) for n, _ in pages(installed, s)}
    for section in (3, 7):
        for name, text in pages(installed, section):
            see = re.findall(r'^\.BR (\S+) \((\d)\)', text, re.M)
            ours = {f'{n}({s})'.replace('\\-', '-') for n, s in see if s in '37'}
            outside = {'snprintf(3)', 'capabilities(7)'}
            assert ours <= have | outside, name


def test_summaries_are_short_and_unlike(installed):
    summaries = [re.search(r'^\.SH NAME\n.* \\- (.*)$', text, re.M).group(1)
                 for s in (3, 7) for _, text in pages(installed, s) if not text.startswith('.so')]
    assert len(summaries) == len(set(summaries))
    assert all(len(s) < 80 for s in summaries)


@pytest.mark.parametrize('where', [('pev_ring_next',), ('3', 'pev_group_add'),
                                   ('7', 'perfevent-groups')])
def test_man_finds_them(installed, where):
    done = run(['man', '-M', installed.man, '-w', *where])
    assert done.returncode == 0 and installed.man in done.stdout, done.stderr


def test_man_has_nothing_to_complain_about(installed):
    """groff as man calls it, for all pages at once."""
    need('program:groff')
    paths = [os.path.join(installed.man, f'man{section}', f'{name}.{section}') for section in (3, 7)
             for name, text in pages(installed, section) if not text.startswith('.so')]
    done = run(['groff', '-K', 'utf8', '-t', '-mandoc', '-Tutf8', '-ww', '-z', *paths], {'LC_ALL': 'C.UTF-8'})
    assert len(paths) > 40 and (done.returncode, done.stderr) == (0, '')


FIELDS = r'''
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	const struct pev_attr_field *f;

	for (unsigned int i = 0; (f = pev_attr_field_at(i)); i++)
		printf("%s %s %s\n", f->name, f->since, f->what);
	return 0;
}
'''


def test_the_page_on_attrs_has_every_field(installed, tmp_path):
    """The page is made from the source of the table that the library walks."""
    source = tmp_path / 'fields.c'
    source.write_text(FIELDS)
    done = installed.run(installed.compile(source, tmp_path / 'fields'))
    with open(os.path.join(installed.man, 'man7/perfevent-attr.7')) as f:
        page = f.read()
    shown = re.findall(r'^\.TP\n\\fB(.*)\\fP  \(Linux (.*)\)\n(.*)$', page, re.M)
    plain = [re.sub(r'\\f[BIPR]|\\&', '', ' '.join(row)).replace(r'\-', '-').replace(r'\(aq', "'")
             for row in shown]
    assert plain == done.stdout.splitlines()
    assert len(plain) > 65
