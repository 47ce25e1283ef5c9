// SPDX-License-Identifier: Apache-2.0
// The page of a flame graph: data of src/report/flame_html.c, drawn by d3-flame-graph. Names
// reach the document as text only.
import flamegraph from 'd3-flame-graph';
import {select} from 'd3-selection';
import {difference, element, hue, number, percent, pageData, watchSize} from './page.js';
import './flame.css';

const kinds = [   // as enum folded_kind: name, hue, saturation
	['user', 35, 90], ['kernel', 12, 85], ['inlined', 55, 80], ['script', 120, 45],
	['unknown', 0, 0], ['task', 45, 30], ['time', 0, 0], ['blocked', 215, 65],
];

// Stacks come sorted; each says how many frames it has in common with the one before.
function grow(data) {
	const root = {name: 'all', kind: 5, value: 0, before: 0, children: []};
	const path = [root];

	for (const [common, weight, before, ...frames] of data.stacks) {
		path.length = common + 1;
		for (const frame of frames) {
			const node = {name: data.names[frame], kind: data.kinds[frame], value: 0, before: 0,
			              children: []};
			path[path.length - 1].children.push(node);
			path.push(node);
		}
		for (const node of path) {
			node.value += weight;
			node.before += before;
		}
	}
	return root;
}

// What is gone has no width, and the sum of nothing would be NaN.
function prune(root) {
	const todo = [root];

	while (todo.length) {
		const node = todo.pop();
		node.children = node.children.filter(child => child.value > 0);
		todo.push(...node.children);
	}
	return root;
}

const data = pageData();
const root = grow(data);
const total = root.value, totalBefore = root.before;

function change(node) {
	return totalBefore ? node.value / total - node.before / totalBefore : 0;
}

let most = 0;   // the largest change of a share
const used = new Set();
for (const todo = [root]; todo.length;) {
	const node = todo.pop();
	if (node !== root)
		used.add(node.kind);
	most = Math.max(most, Math.abs(change(node)));
	todo.push(...node.children);
}
prune(root);

function colour(d) {
	if (d.highlight)
		return '#e600e6';
	if (totalBefore)
		return difference(most ? change(d.data) / most : 0);
	const [, angle, saturation] = kinds[d.data.kind];
	return hue(angle, saturation, d.data.name);
}

function label(d) {
	const node = d.data;
	let text = `${node.name} (${number(node.value)} ${data.unit}, ${percent(node.value / total)}`;

	if (totalBefore) {
		const points = 100 * change(node);
		text += `; ${points < 0 ? '' : '+'}${points.toFixed(2)} points`;
	}
	return text + ')';
}

/* ---- the page ------------------------------------------------------------------------- */

document.body.append(
	element('div', {id: 'head'},
		element('h1', {textContent: data.title}),
		element('div', {id: 'bar'},
			element('input', {id: 'search', type: 'search', placeholder: 'search: text or /regular expression/'}),
			element('span', {id: 'matched'}),
			element('button', {id: 'reset', textContent: 'reset zoom'}),
			element('span', {id: 'zoomed'}),
			element('span', {id: 'legend'})),
		element('div', {id: 'details'})),
	element('div', {id: 'chart'}));

const at = id => document.getElementById(id);
const legend = totalBefore
	? [['larger share than before', difference(0.6)], ['smaller', difference(-0.6)]]
	: kinds.filter((_, i) => used.has(i)).map(([name, h, s]) => [name, `hsl(${h},${s}%,65%)`]);
for (const [name, background] of legend) {
	const span = element('span', {textContent: name});
	span.style.background = background;
	at('legend').append(span);
}
if (data.overflow)
	at('bar').append(element('span', {textContent:
		`${number(data.overflow)} ${data.unit} are not shown: too many different stacks`}));

const chart = flamegraph()
	.width(document.body.clientWidth)
	.cellHeight(18)
	.minFrameSize(0.5)
	.transitionDuration(150)
	.setColorMapper(colour)
	.setLabelHandler(label)
	.setDetailsElement(at('details'))
	.onClick(d => {
		at('zoomed').textContent = d.parent ? `zoomed: ${label(d)}` : '';
	});

// Text as it stands; between slashes a regular expression, which may be half typed.
function matcher(term) {
	const inner = /^\/(.+)\/$/.exec(term);

	try {
		const expression = inner && new RegExp(inner[1], 'i');
		if (expression)
			return name => expression.test(name);
	} catch {
		return () => false;
	}
	const low = term.toLowerCase();
	return name => name.toLowerCase().includes(low);
}

let matches = () => false;
chart.setSearchMatch(d => d.parent && matches(d.data.name));
chart.setSearchHandler((results, sum) => {
	at('matched').textContent = `${results.length} frames, ${percent(sum / total)}`;
});

function search() {
	const term = at('search').value.trim();

	if (!term) {
		at('matched').textContent = '';
		chart.clear();
		return;
	}
	matches = matcher(term);
	chart.search(term);
}

at('search').addEventListener('input', search);
at('reset').addEventListener('click', () => chart.resetZoom());
document.addEventListener('keydown', event => {
	if (event.key === 'Escape') {
		at('search').value = '';
		search();
		chart.resetZoom();
	}
});

if (total) {
	select(at('chart')).datum(root).call(chart);
	watchSize(() => chart.width(document.body.clientWidth).update());
	scrollTo(0, document.documentElement.scrollHeight);   // deep stacks: what is wide is at the base
} else {
	at('chart').textContent = 'There are no stacks.';
}
