// SPDX-License-Identifier: Apache-2.0
// node bundle.mjs ENTRY OUT.js OUT.css OUT.licences: one page's script and style, with all
// that they import, and the licences of it. node bundle.mjs --dist ENTRY...: these pages, into
// web/built of the source archive that Meson is making.
import * as esbuild from 'esbuild';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';

// The packages that something came from, and the text of each licence once.
function licenceText(result) {
	const packages = new Set();
	const texts = new Map();

	for (const input of Object.keys(result.metafile.inputs)) {
		const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
		if (found)
			packages.add(found[0].slice(0, -1));
	}
	for (const path of [...packages].sort()) {
		const about = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
		const text = readFileSync(join(path, 'LICENSE'), 'utf8').trim();
		const own = /^Copyright.*$/m.exec(text.split('\n')[0]);
		const rest = own ? text.slice(own[0].length).trim() : text;
		const name = `${basename(path)} ${about.version} (${about.license})${own ? ': ' + own[0] : ''}`;
		texts.set(rest, [...(texts.get(rest) ?? []), name]);
	}
	return [...texts].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join('\n----\n\n');
}

async function bundle(entry, script, style, licences) {
	const result = await esbuild.build({
		entryPoints: [entry],
		bundle: true,
		minify: true,
		metafile: true,
		write: false,
		format: 'iife',
		target: 'es2020',
		charset: 'ascii',
		legalComments: 'none',
		outfile: script,
		logLevel: 'warning',
	});
	const text = licenceText(result);
	const file = suffix => result.outputFiles.find(f => f.path.endsWith(suffix))?.text ?? '';
	const code = file('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

	writeFileSync(script, `/*\n${text.replaceAll('*/', '* /')}*/\n${code}`);
	writeFileSync(style, file('.css').replaceAll('</style', '<\\/style'));
	writeFileSync(licences, text);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--dist') {
	const folder = join(process.env.MESON_DIST_ROOT, 'web/built');
	mkdirSync(folder);
	for (const entry of rest)
		await bundle(entry, ...['bundle.js', 'bundle.css', 'licences'].map(end =>
			join(folder, `${basename(entry, '.js')}.${end}`)));
} else {
	await bundle(first, ...rest);
}
