"use strict";
// Draws the overview and the table of queries from the data in the page; asks for nothing outside.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { systems, sets } = data;
  const [full] = systems;
  const COLOURS = ["#0072B2", "#D55E00", "#007a59", "#a8487e", "#8a6100", "#2f7fb0", "#000000"];
  const DASHES = ["", "6 3", "2 3", "8 3 2 3", "10 3", "1 3", "4 2 1 2"];
  const GAIN = "0, 114, 178", LOSS = "213, 94, 0";
  const ROWS = 50;
  const SVG = "http://www.w3.org/2000/svg";
  const state = { measure: Object.keys(sets[0].measures)[0], set: 0, system: 1,
                  sort: "difference", down: false, search: "", all: false,
                  open: new Set() };

  const byId = (id) => document.getElementById(id);

  function filled(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  const node = (name, attributes = {}, ...children) =>
    filled(document.createElement(name), attributes, children);
  const svgNode = (name, attributes = {}, ...children) =>
    filled(document.createElementNS(SVG, name), attributes, children);

  const number = (x, decimals) => x.toFixed(decimals);
  const signed = (x, decimals) => {
    const text = Math.abs(x).toFixed(decimals);
    return (Number(text) === 0 ? "" : x < 0 ? "-" : "+") + text;
  };
  const percent = (before, after) => before ? `${signed(100 * (after / before - 1), 1)} %` : "";
  const between = (low, high, decimals) =>
    low === null ? "" : `${signed(low, decimals)} to ${signed(high, decimals)}`;

  function megabytes(bytes) {
    const size = bytes / 1e6;
    return `${size.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)} MB`;
  }

  const shownMeasure = (set) => set.measures[state.measure] ? state.measure
    : Object.keys(set.measures)[0];
  const measured = (set) => set.measures[shownMeasure(set)];

  function test(tested, baseline, treatment) {
    const found = tested.tests.find(([b, t]) => b === baseline && t === treatment);
    if (!found) return null;
    const [, , difference, low, high, p] = found;
    return { difference, low, high, p, sure: p !== null && p < data.significant };
  }

  const tuned = systems.length > data.indexes ? data.indexes : null;

  /** A drawing's width on this page, so that a narrow one does not shrink its letters. */
  const widthFor = (most) =>
    Math.max(280, Math.min(most, document.querySelector("main").clientWidth));

  // The matrix: a line an index, a column a cost or a query set.

  const inTiers = data.tiers.some(Boolean);

  const tierCells = (tiers) => tiers === null ? [cell(""), cell("")]
    : [cell(tiers.hot === null ? "" : megabytes(tiers.hot)),
       cell(tiers.fidelity === null ? "" : number(tiers.fidelity, 3), `depth ${tiers.depth}`)];

  function matrix() {
    const head = node("tr", {}, node("th", { scope: "col" }, "index"),
      ...["bytes", "postings", ...(inTiers ? ["hot field", "fidelity"] : []), "top-10 latency",
        "top-1000 latency", ...sets.map((set) => set.label),
        ...sets.map((set) => sets.length > 1 ? `judged, ${set.label}` : "judged")]
        .map((text) => node("th", { scope: "col" }, text)));
    const rows = systems.map((name, i) => node("tr", {},
      node("th", { scope: "row", title: name }, name),
      costCell(data.bytes, i, megabytes), costCell(data.postings, i, (n) => n.toLocaleString("en")),
      ...(inTiers ? tierCells(data.tiers[i]) : []), timeCell("top10", i), timeCell("top1000", i),
      ...sets.map((set) => effectCell(set, i)),
      ...sets.map((set) => cell(`${number(100 * set.share[i], 0)} %`))));
    byId("matrix").replaceChildren(node("thead", {}, head), node("tbody", {}, ...rows));
    byId("matrix-title").textContent = `All indexes: costs, and ${state.measure} by query set`;
    byId("matrix-region").setAttribute("aria-label", `Overview, ${state.measure}`);
  }

  function cell(main, detail, more, colour) {
    const made = node("td", colour ? { style: `background: ${colour}` } : {}, main);
    for (const text of [detail, more]) if (text) made.append(node("small", {}, text));
    return made;
  }

  function costCell(costs, i, shown) {
    if (i === tuned) return cell("", `as ${full}`);
    return cell(shown(costs[i]), i ? percent(costs[0], costs[i]) : "");
  }

  function timeCell(depth, i) {
    const faster = data.faster[depth][i];
    return cell(`${number(data.ms[depth][i], 3)} ms`, faster ? `x${number(faster[0], 2)}` : "",
      faster ? `${number(faster[1], 2)} to ${number(faster[2], 2)}` : "");
  }

  function effectCell(set, i) {
    const shown = measured(set), found = test(shown, 0, i), other = test(shown, tuned, i);
    if (!found) return cell(number(shown.means[i], 4));
    const marks = (found.sure ? "*" : "") + (other && other.sure ? "†" : "");
    return cell(number(shown.means[i], 4), signed(found.difference, 4) + marks,
      between(found.low, found.high, 3), tint(found.difference, shown.means[0], found.sure));
  }

  function tint(difference, mean, sure) {
    const share = mean ? Math.min(1, Math.abs(difference) / mean / 0.1) : 0;
    const alpha = share * (sure ? 0.4 : 0.16);
    return alpha ? `rgba(${difference > 0 ? GAIN : LOSS}, ${alpha.toFixed(3)})` : "";
  }

  // The two plots above it.

  function ticks(low, high, wanted) {
    const step = [1, 2, 5, 10].map((m) => m * 10 ** Math.floor(Math.log10((high - low) / wanted)))
      .find((size) => (high - low) / size <= wanted);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) {
      found.push(at * step);
    }
    return { found, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  function scale(values, pixelLow, pixelHigh, margin) {
    let low = Math.min(...values), high = Math.max(...values);
    const room = (high - low || Math.abs(high) || 1) * margin;
    low = Math.max(low - room, low >= 0 ? 0 : -Infinity);
    high += room;
    const at = (x) => pixelLow + (x - low) / (high - low) * (pixelHigh - pixelLow);
    return Object.assign(at, { low, high });
  }

  const across = {
    bytes: {
      label: "megabytes", title: "size",
      // In its place stands the index itself already.
      at: (i) => ({ x: data.bytes[i] / 1e6, aside: i === tuned }), shown: (i) => megabytes(data.bytes[i]),
    },
    latency: {
      label: "milliseconds a query, top-10, mean", title: "latency",
      at(i) {
        const ms = data.ms.top10[i], faster = data.faster.top10[i];
        if (!faster) return { x: ms };
        return { x: ms, low: data.ms.top10[0] / faster[2], high: data.ms.top10[0] / faster[1] };
      },
      shown: (i) => `${number(data.ms.top10[i], 3)} ms`,
    },
  };

  /** What stands in one plot: for each query set its points, left to right. */
  function points(kind) {
    return sets.map((set) => systems.map((name, i) => {
      const place = across[kind].at(i), shown = measured(set);
      const found = test(shown, 0, i), y = shown.means[i];
      const bounds = found && found.low !== null
        ? { yLow: shown.means[0] + found.low, yHigh: shown.means[0] + found.high } : {};
      const text = `${name}, ${set.label}: ${state.measure} ${number(y, 4)}, ` +
        across[kind].shown(i) + (found ? `; ${signed(found.difference, 4)}` +
        (found.low === null ? "" : ` (${between(found.low, found.high, 3)})`) : "");
      return { i, y, text, ...place, ...bounds };
    }).sort((a, b) => a.x - b.x));
  }

  function frontier(kind) {
    const holder = byId(`plot-${kind}`), lines = points(kind), every = lines.flat();
    const width = Math.max(280, Math.min(620, holder.clientWidth || 520));
    const longest = Math.max(...systems.map((name) => shorten(name).length));
    const top = 28 + 4.4 * longest, bottom = 46, left = 52, right = 26, height = 300 + top;
    const x = scale(every.flatMap((p) => [p.x, p.low ?? p.x, p.high ?? p.x]),
      left + 8, width - right, 0.06);
    const y = scale(every.flatMap((p) => [p.y, p.yLow ?? p.y, p.yHigh ?? p.y]),
      height - bottom, top, 0.05);
    const drawn = drawing(width, height,
      `${state.measure} against ${across[kind].title}; the table below has the numbers`, { width });
    levels(drawn, y, left, width - right, 6);
    const along = ticks(x.low, x.high, width < 420 ? 4 : 7);
    for (const value of along.found) {
      drawn.append(line(x(value), height - bottom, x(value), height - bottom + 5, "axis"),
        text(x(value), height - bottom + 18, number(value, along.decimals), "middle"));
    }
    drawn.append(line(left, height - bottom, width - right, height - bottom, "axis"),
      text((left + width - right) / 2, height - 8, across[kind].label, "middle"),
      turned(12, (top + height - bottom) / 2, -90, state.measure, "middle"));
    nameIndexes(drawn, x, top, height - bottom, lines[0], width);
    for (const p of lines[0]) {  // the same for all query sets, so drawn once
      if (p.low === undefined) continue;
      const floor = height - bottom - 5 - 5 * (p.i % 3);  // neighbours overlap
      drawn.append(line(x(p.low), floor, x(p.high), floor, "spread"),
        line(x(p.x), floor - 2, x(p.x), floor + 2, "spread"));
    }
    lines.forEach((line, s) => drawLine(drawn, line, s, x, y));
    holder.replaceChildren(drawn);
  }

  const drawing = (width, height, label, more = {}) => svgNode("svg",
    { viewBox: `0 0 ${width} ${height}`, ...more, role: "img", "aria-label": label });
  const line = (x1, y1, x2, y2, kind) => svgNode("line", { x1, y1, x2, y2, class: kind });
  const text = (x, y, words, anchor, kind = "") =>
    svgNode("text", { x, y, "text-anchor": anchor, class: kind }, words);

  function turned(x, y, degrees, ...label) {
    const made = text(0, 0, ...label);
    made.setAttribute("transform", `translate(${x} ${y}) rotate(${degrees})`);
    return made;
  }

  /** Lines across a plot, each with its value to the left. */
  function levels(drawn, y, left, right, wanted) {
    const { found, decimals } = ticks(y.low, y.high, wanted);
    for (const value of found) {
      drawn.append(line(left, y(value), right, y(value), "grid"),
        text(left - 6, y(value) + 4, number(value, decimals), "end"));
    }
  }

  /** Lines down to the values at the foot of a plot. */
  function uprights(drawn, x, top, width, height, shown) {
    const { found, decimals } = ticks(x.low, x.high, width < 420 ? 4 : 6);
    for (const value of found) {
      drawn.append(line(x(value), top, x(value), height - 34, "grid"),
        text(x(value), height - 18, shown(value, decimals), "middle"));
    }
  }

  /** Names above the plot, pushed apart, with a thin line down to where each index stands. */
  function nameIndexes(drawn, x, top, floor, places, width) {
    const apart = 20, letter = 5.2;
    const named = places.filter((p) => !p.aside).map(({ i, x: at }) => ({ i, at: x(at) }));
    let last = -Infinity;
    for (const name of named) last = name.put = Math.max(name.at, last + apart);
    let next = width;
    for (const name of [...named].reverse()) {
      const ends = width - 8 - letter * shorten(systems[name.i]).length;
      next = (name.put = Math.min(name.put, next, ends)) - apart;
    }
    for (const { i, at, put } of named) {
      drawn.append(svgNode("path", { class: "guide",
        d: `M${put} ${top - 12}L${at} ${top - 2}V${floor}` }),
      turned(put - 2, top - 14, -38, shorten(systems[i]), "start", "name"));
    }
  }

  const shorten = (name) => name.length > 16 ? `${name.slice(0, 15)}…` : name;

  function drawLine(drawn, line, s, x, y) {
    const colour = COLOURS[s % COLOURS.length];
    const joined = line.filter(({ i }) => i !== tuned);
    drawn.append(svgNode("polyline", { fill: "none", stroke: colour, "stroke-width": 1.6,
      "stroke-dasharray": DASHES[s % DASHES.length],
      points: joined.map((p) => `${x(p.x)},${y(p.y)}`).join(" ") }));
    for (const p of line) {
      const group = svgNode("g", { class: "point", stroke: colour, "stroke-width": 1.3 });
      const at = x(p.x) + (p.aside ? 5 : 0);
      if (p.yLow !== undefined) {
        group.append(svgNode("line", { x1: at, x2: at, y1: y(p.yLow), y2: y(p.yHigh) }));
      }
      group.append(mark(s, at, y(p.y), p.i === tuned ? "#fff" : colour));
      group.append(svgNode("title", {}, p.text));
      drawn.append(group);
    }
  }

  const SHAPES = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.6-3.6h7.2v7.2h-7.2z", "M0-4.6L4.4 3.6h-8.8z",
    "M0-5L5 0L0 5L-5 0z", "M0 4.6L4.4-3.6h-8.8z", "M-4.4-1.5h3V-4.4h2.8v2.9h3v3h-3v2.9h-2.8v-2.9h-3z",
    "M-5-2.4h10v4.8h-10z",
  ];
  const mark = (s, x, y, fill) =>
    svgNode("path", { d: SHAPES[s % SHAPES.length], transform: `translate(${x} ${y})`, fill });

  function legend() {
    byId("legend").replaceChildren(...sets.map((set, s) => {
      const colour = COLOURS[s % COLOURS.length];
      return node("li", {}, svgNode("svg", { width: 34, height: 12, "aria-hidden": "true" },
        svgNode("line", { x1: 0, x2: 34, y1: 6, y2: 6, stroke: colour, "stroke-width": 1.6,
          "stroke-dasharray": DASHES[s % DASHES.length] }), mark(s, 17, 6, colour)),
      ` ${set.label} (${set.judged.toLocaleString("en")} queries)`);
    }));
  }

  /** Megabytes of each kind of file, a group of bars each, a bar an index. */
  function kinds() {
    const names = systems.slice(0, data.indexes), thick = 12, gap = 10, width = widthFor(620);
    const left = 92, right = 60, top = 8;
    const group = names.length * thick + gap, height = top + group * data.kinds.length + 34;
    const x = scale([0, ...data.kinds.flatMap(([, sizes]) => sizes.map((size) => size / 1e6))],
      left, width - right, 0);
    const drawn = drawing(width, height,
      "Bytes by kind of file; the tables of sizes have the numbers");
    uprights(drawn, x, top, width, height, threeDigits);
    data.kinds.forEach(([kind, sizes], k) => {
      const above = top + group * k + gap / 2;
      drawn.append(text(left - 8, above + names.length * thick / 2 + 4, kind.replace(/_/g, " "),
        "end"));
      sizes.forEach((size, i) => {
        const bar = svgNode("rect", { x: x(0), y: above + i * thick + 1, height: thick - 3,
          width: x(size / 1e6) - x(0), fill: COLOURS[i % COLOURS.length] });
        bar.append(svgNode("title", {}, `${names[i]}, ${kind}: ${size.toLocaleString("en")} bytes`));
        drawn.append(bar, text(x(size / 1e6) + 4, above + i * thick + 9, threeDigits(size / 1e6),
          "start", "small"));
      });
    });
    drawn.append(text((left + width - right) / 2, height - 3, "megabytes", "middle"));
    byId("plot-kinds").replaceChildren(drawn);
    byId("kinds-legend").replaceChildren(...names.map((name, i) => node("li", {},
      svgNode("svg", { width: 14, height: 12, "aria-hidden": "true" }, svgNode("rect",
        { width: 14, height: 11, fill: COLOURS[i % COLOURS.length] })), ` ${name}`)));
  }

  const threeDigits = (x) =>
    Number(x.toPrecision(3)).toString().replace(/e([+-])(\d)$/, "e$10$2");

  // Single queries.

  function queryRows() {
    const set = sets[state.set], shown = measured(set);
    const before = shown.values[0], after = shown.values[state.system];
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = set.queries.map((id, q) => ({ q, id, text: set.texts[q], before: before[q],
      after: after[q], difference: after[q] - before[q] }));
    return { rows, found: rows.filter((row) => {
      const whole = `${row.id} ${row.text}`.toLowerCase();
      return words.every((word) => whole.includes(word));
    }) };
  }

  const natural = new Intl.Collator("en", { numeric: true });

  function sorted(rows) {
    const key = state.sort, down = state.down ? -1 : 1;
    return rows.sort((a, b) => down * (key === "id" ? natural.compare(a.id, b.id)
      : a[key] - b[key]) || natural.compare(a.id, b.id));
  }

  function queries() {
    const { rows, found } = queryRows();
    const shown = sorted(found).slice(0, state.all ? undefined : ROWS);
    byId("query-rows").replaceChildren(...shown.flatMap((row) => [node("tr", {},
      node("td", {}, ...queryName(row)), node("td", {}, number(row.before, 3)),
      node("td", {}, number(row.after, 3)), node("td", {}, signed(row.difference, 3)),
      bar(row.difference)), ...(isOpen(row.q) ? [openedRow(row.q)] : [])]));
    const heads = { id: "query", before: full, after: systems[state.system],
      difference: "difference" };
    for (const button of document.querySelectorAll("#query-table th button")) {
      const key = button.dataset.sort, active = key === state.sort;
      button.textContent = heads[key] + (active ? state.down ? " ▼" : " ▲" : "");
      button.parentElement.setAttribute("aria-sort",
        active ? state.down ? "descending" : "ascending" : "none");
    }
    byId("query-count").textContent = `${found.length.toLocaleString("en")} of ` +
      `${rows.length.toLocaleString("en")} queries by ${shownMeasure(sets[state.set])}` +
      (shown.length < found.length ? `, the first ${shown.length} shown` : "");
    byId("query-all").hidden = shown.length === found.length;
    differences(rows.map((row) => row.difference));
    forest();
  }

  /** A query's name; of one whose rankings are in the page, a button that opens and closes them. */
  function queryName({ q, id, text }) {
    const opened = openedOf(q), name = [`${id}: `, node("bdi", {}, text)];
    if (!opened) return name;
    const button = node("button", { type: "button", "aria-expanded": String(isOpen(q)) }, ...name);
    button.addEventListener("click", () => {
      const row = button.closest("tr"), open = isOpen(q);
      button.setAttribute("aria-expanded", String(!open));
      if (open) state.open.delete(`${state.set} ${q}`); else state.open.add(`${state.set} ${q}`);
      if (open) row.nextSibling.remove(); else row.after(openedRow(q));
    });
    return [button];
  }

  const openedOf = (q) => sets[state.set].opened[q];
  const isOpen = (q) => state.open.has(`${state.set} ${q}`);
  const openedRow = (q) => node("tr", { class: "opened" }, sideBySide(openedOf(q)));

  function sideBySide({ rankings, relevant }) {
    const shown = [0, state.system];
    return node("td", { colspan: 5 }, node("div", { class: "side" }, ...shown.map((at, side) => {
      const ranking = rankings[at], other = rankings[shown[1 - side]];
      const hits = ranking.map((document_, rank) => hit(document_, relevant.includes(document_),
        movement(rank, other.indexOf(document_), side)));
      return node("div", {}, node("strong", {}, systems[at]),
        hits.length ? node("ol", {}, ...hits) : node("p", {}, "Nothing found."));
    })));
  }

  function hit(document_, relevant, moved) {
    const [id, title] = data.documents[document_];
    const marks = [relevant ? "relevant" : "", moved].filter(Boolean).join(", ");
    return node("li", relevant ? { class: "relevant" } : {}, node("span", {}, id),
      marks ? ` (${marks})` : "", title ? node("small", { dir: "auto" }, title) : "");
  }

  /** Where a document stands in the other ranking; both are compared with the first. */
  function movement(rank, there, side) {
    if (there < 0) return side ? "new" : "gone";
    if (there === rank) return "";
    const up = side ? there > rank : there < rank;
    return `${up ? "▲" : "▼"} ${side ? "from" : "to"} ${there + 1}`;
  }

  function bar(difference) {
    const size = Math.min(50, 50 * Math.abs(difference));
    const drawn = svgNode("svg", { viewBox: "0 0 100 12", "aria-hidden": "true",
      class: difference < 0 ? "lost" : "" });
    drawn.append(svgNode("path", { d: `M50 0h${difference < 0 ? -size : size}v12H50z` }));
    return node("td", { class: "bar" }, drawn);
  }

  /** Every query's difference, the largest gain first: two areas. */
  function differences(values) {
    const width = widthFor(520), height = 220, left = 46, bottom = 34, top = 12;
    const ordered = [...values].sort((a, b) => b - a);
    const y = scale([...ordered, 0, 0.1, -0.1], height - bottom, top, 0.04);
    const step = (width - left - 6) / ordered.length;
    const drawn = drawing(width, height, `${state.measure} of each query, ${pairName()}, sorted`);
    levels(drawn, y, left, width - 6, 5);
    for (const [colour, keep] of [[GAIN, Math.max], [LOSS, Math.min]]) {
      const path = ordered.map((value, q) =>
        `V${y(keep(value, 0)).toFixed(1)}H${(left + (q + 1) * step).toFixed(1)}`).join("");
      drawn.append(svgNode("path", { d: `M${left} ${y(0)}${path}V${y(0)}z`,
        fill: `rgb(${colour})` }));
    }
    const won = ordered.filter((v) => v > 0).length, lost = ordered.filter((v) => v < 0).length;
    drawn.append(line(left, y(0), width - 6, y(0), "axis"), text((left + width) / 2, height - 8,
      `${won} queries better, ${ordered.length - won - lost} equal, ${lost} worse`, "middle"));
    byId("plot-differences").replaceChildren(drawn);
    byId("differences-title").textContent = `${shownMeasure(sets[state.set])} of each query: ` +
      pairName();
  }

  const pairName = () => `${systems[state.system]} minus ${full}` +
    (sets.length > 1 ? `, ${sets[state.set].label}` : "");

  /** The difference of every measure with its interval. */
  function forest() {
    const measures = Object.entries(sets[state.set].measures)
      .map(([name, tested]) => [name, test(tested, 0, state.system)]).filter(([, found]) => found);
    const width = widthFor(520), row = 38, left = 84, top = 10, height = top + row * measures.length + 34;
    const x = scale(measures.flatMap(([, t]) => [t.difference, t.low ?? 0, t.high ?? 0, 0]),
      left, width - 24, 0.08);
    const drawn = drawing(width, height, `Differences of all measures, ${pairName()}`);
    uprights(drawn, x, top, width, height, number);
    drawn.append(line(x(0), top, x(0), height - 34, "axis"));
    measures.forEach(([name, found], at) => {
      const middle = top + row * (at + 0.62), colour = COLOURS[found.difference < 0 ? 1 : 0];
      const group = svgNode("g", { stroke: colour, fill: colour, "stroke-width": 2 });
      if (found.low !== null) {
        group.append(svgNode("line",
          { x1: x(found.low), x2: x(found.high), y1: middle, y2: middle }));
      }
      group.append(svgNode("circle", { cx: x(found.difference), cy: middle, r: 4 }));
      drawn.append(text(left - 8, middle + 4, name, "end"), group,
        text(x(found.difference), middle - 9, signed(found.difference, 3) + (found.sure ? "*" : ""),
          "middle"));
    });
    byId("plot-forest").replaceChildren(drawn);
    byId("forest-title").textContent = `All measures, with intervals: ${pairName()}`;
  }

  // Controls.

  function overview() {
    matrix();
    legend();
    frontier("bytes");
    frontier("latency");
  }

  function choose(id, names, skip, chosen) {
    const select = byId(id);
    names.forEach((name, i) => {
      if (i >= skip) select.append(node("option", { value: i }, name));
    });
    select.addEventListener("change", () => chosen(Number(select.value)));
    select.closest("label").hidden = names.length - skip < 2;
  }

  function restart() {
    state.all = false;
    queries();
  }

  const measures = [...new Set(sets.flatMap((set) => Object.keys(set.measures)))];
  choose("measure", measures, 0, (i) => { state.measure = measures[i]; overview(); restart(); });
  choose("query-set", sets.map((set) => set.label), 0, (i) => { state.set = i; restart(); });
  choose("query-index", systems, 1, (i) => { state.system = i; restart(); });
  byId("query-search").addEventListener("input", (event) => {
    state.search = event.target.value;
    restart();
  });
  byId("query-all").addEventListener("click", () => { state.all = true; queries(); });
  for (const button of document.querySelectorAll("#query-table th button")) {
    button.addEventListener("click", () => {
      state.down = button.dataset.sort === state.sort && !state.down;
      state.sort = button.dataset.sort;
      queries();
    });
  }
  // A link to a folded section unfolds it.
  function unfold() {
    const target = location.hash && byId(location.hash.slice(1));
    const folded = target && target.querySelector("details.section");
    if (folded) folded.open = true;
  }
  addEventListener("hashchange", unfold);
  document.querySelector("nav").addEventListener("click", () => setTimeout(unfold));
  function draw() {
    overview();
    kinds();
    queries();
  }
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
  for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
  unfold();
  draw();
})();
