// SPDX-License-Identifier: Apache-2.0
// The page of a heat map: data of src/report/heatmap_html.c. A brush selects a range of times
// and values; the table below tells its counts and quantiles, "zoom in" shows it alone.
import {axisBottom, axisLeft} from 'd3-axis';
import {brush} from 'd3-brush';
import {scaleLinear, scaleLog} from 'd3-scale';
import {pointer, select} from 'd3-selection';
import {duration, element, number, pageData, percent, watchSize} from './page.js';
import './heat.css';

const margin = {left: 80, right: 20, top: 10, bottom: 30}, height = 480, perPower = 8;
const data = pageData();
const cells = data.cells.map(([span, low, high, n]) => ({
	from: span * data.step, to: (span + 1) * data.step, low, high, n,
	value: Math.max(low + (high - low) / 2, 0.5),   // a scale of powers has no 0
}));
const text = value => data.unit === 'ns' ? duration(value) : `${number(Math.round(value))} ${data.unit}`;

function extent(list) {
	let low = Infinity, high = 1;

	for (const c of list) {
		low = Math.min(low, c.value);
		high = Math.max(high, c.high + 1);
	}
	return [Math.min(low, high) / 1.2, high * 1.2];   // room to begin a brush in
}

const everything = {times: [0, Math.max(data.spans * data.step, 1)], values: extent(cells)};
let shown = everything, selected = null, x, y;

document.body.append(
	element('h1', {textContent: data.title}),
	element('div', {id: 'bar'},
		element('button', {id: 'zoom', textContent: 'zoom in', disabled: true}),
		element('button', {id: 'reset', textContent: 'reset'}),
		element('span', {id: 'hover'})),
	element('div', {id: 'map'}, element('canvas')),
	element('table', {id: 'selection'}));
const at = id => document.getElementById(id);
at('map').style.height = `${height}px`;

function within(c, range) {
	return c.from < range.times[1] && c.to > range.times[0] &&
		c.value >= range.values[0] && c.value <= range.values[1];
}

/* ---- the table -------------------------------------------------------------------------- */

function quantile(list, count, p) {
	let rank = Math.max(1, Math.ceil(p * count));

	for (const c of list) {
		rank -= c.n;
		if (rank <= 0)
			return c.value;
	}
	return 0;
}

function tell(range) {
	const list = cells.filter(c => within(c, range)).sort((a, b) => a.value - b.value);
	const count = list.reduce((sum, c) => sum + c.n, 0);
	const rows = [
		['time', `${duration(Math.max(range.times[0], 0))} to ${duration(range.times[1])}`],
		['values', `${text(range.values[0])} to ${text(range.values[1])}`],
		['count', number(count)],
		['of all', percent(data.count ? count / data.count : 0)],
		['per second', number(Math.round(count / (range.times[1] - range.times[0]) * 1e9))],
	];

	for (const [name, p] of [['p50', 0.5], ['p90', 0.9], ['p95', 0.95], ['p99', 0.99], ['p99.9', 0.999],
	                         ['max', 1]])
		rows.push([name, count ? text(quantile(list, count, p)) : '-']);
	at('selection').replaceChildren(...rows.map(([name, value]) => element('tr', {},
		element('th', {textContent: name}), element('td', {textContent: value, id: `of-${name}`}))));
}

/* ---- the map ------------------------------------------------------------------------------ */

// Neighbouring values share a row of the picture.
function rows() {
	const sums = new Map();

	for (const c of cells) {
		if (!within(c, shown))
			continue;
		const row = Math.floor(Math.log2(c.value) * perPower), key = `${c.from}/${row}`;
		const found = sums.get(key);

		if (found)
			found.n += c.n;
		else
			sums.set(key, {from: c.from, to: c.to, row, n: c.n});
	}
	return [...sums.values()];
}

function paint(canvas, width) {
	const context = canvas.getContext('2d'), list = rows();
	const most = list.reduce((m, c) => Math.max(m, c.n), 1);

	canvas.width = width;
	canvas.height = height;
	for (const c of list) {
		const heat = Math.log1p(c.n) / Math.log1p(most);
		const left = Math.max(x(c.from), margin.left), top = Math.max(y(2 ** ((c.row + 1) / perPower)), margin.top);

		context.fillStyle = `hsl(${50 - 50 * heat},90%,${88 - 55 * heat}%)`;
		context.fillRect(left, top, Math.max(Math.min(x(c.to), width - margin.right) - left, 1),
			Math.max(Math.min(y(2 ** (c.row / perPower)), height - margin.bottom) - top, 1));
	}
}

function brushed(event) {
	selected = null;
	if (event.selection) {
		const [[left, top], [right, bottom]] = event.selection;
		selected = {times: [x.invert(left), x.invert(right)], values: [y.invert(bottom), y.invert(top)]};
	}
	at('zoom').disabled = !selected;
	tell(selected ?? shown);
}

function hover(event) {
	const [left, top] = pointer(event, document.querySelector('#map svg'));
	const time = x.invert(left), value = y.invert(top);
	const row = Math.floor(Math.log2(value) * perPower);
	let n = 0;

	for (const c of cells)
		if (c.from <= time && time < c.to && Math.floor(Math.log2(c.value) * perPower) === row)
			n += c.n;
	at('hover').textContent = `${duration(Math.max(time, 0))}, ${text(value)}: ${number(n)}`;
}

function draw() {
	const width = Math.max(document.body.clientWidth, 300);

	x = scaleLinear(shown.times, [margin.left, width - margin.right]);
	y = scaleLog(shown.values, [height - margin.bottom, margin.top]).base(2);
	paint(document.querySelector('canvas'), width);
	select('#map svg').remove();
	const svg = select('#map').append('svg').attr('width', width).attr('height', height);
	svg.append('g').attr('transform', `translate(0,${height - margin.bottom})`)
		.call(axisBottom(x).ticks(8).tickFormat(t => duration(t)));
	svg.append('g').attr('transform', `translate(${margin.left},0)`)
		.call(axisLeft(y).ticks(10).tickFormat(v => text(v)));
	svg.append('g').attr('id', 'brush').on('mousemove', hover)
		.call(brush().extent([[margin.left, margin.top], [width - margin.right, height - margin.bottom]])
			.on('end', brushed));
	brushed({});
}

at('zoom').addEventListener('click', () => {
	shown = selected ?? shown;
	draw();
});
at('reset').addEventListener('click', () => {
	shown = everything;
	draw();
});
draw();
watchSize(draw);
