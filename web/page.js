// SPDX-License-Identifier: Apache-2.0
// What the pages have in common.

export function pageData() {
	return JSON.parse(document.getElementById('data').textContent);
}

export function element(name, properties = {}, ...children) {
	const node = Object.assign(document.createElement(name), properties);

	node.append(...children);
	return node;
}

export function number(n) {
	return n.toLocaleString('en');
}

export function percent(share) {
	return `${(100 * share).toFixed(2)}%`;
}

// The same name always looks the same; neighbours differ a bit.
export function hue(angle, saturation, name) {
	let hash = 2166136261;

	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
	return `hsl(${angle},${saturation}%,${60 + (hash >>> 0) % 12}%)`;
}

// change: -1..1 of the largest.
export function difference(change) {
	return `hsl(${change > 0 ? 5 : 220},85%,${95 - 40 * Math.abs(change)}%)`;
}

// A time in ns as people read it.
export function duration(ns) {
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]])
		if (ns >= size)
			return `${Number((ns / size).toPrecision(4))} ${unit}`;
	return `${Number(ns.toPrecision(4))} ns`;
}

export function watchSize(fn) {
	let timer = 0;

	window.addEventListener('resize', () => {
		clearTimeout(timer);
		timer = setTimeout(fn, 100);
	});
}
