
"use strict";
const draw = (() => {
  const made = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const put = (parent, ...children) => { for (const child of children) if (child) parent.append(child); return parent; };
  const worded = (tag, word, kind, text) => {
    const element = made(tag, text === undefined ? word : text, kind);
    element.dataset.word = word;
    return element;
  };

  const table = (head, kind, numbers = 0) => {
    const element = made("table", undefined, kind);
    const row = element.createTHead().insertRow();
    head.forEach((name, at) => {
      const cell = made("th", name, numbers && at >= numbers ? "number" : "");
      cell.scope = "col";
      row.append(cell);
    });
    element.body = element.createTBody();
    return element;
  };
  const scroll = (inner, name) => {
    const frame = put(made("div", undefined, "scroll"), inner);
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", name);
    return frame;
  };

  const BOXES_MOST = 60;
  const lanes = (title, own, others, sign) => {
    const there = new Set(others.flatMap(([name, boxes]) => boxes.map(([text]) => `${name}\n${text}`)));
    const figure = put(made("figure", undefined, "lanes"), made("figcaption", title));
    if (!own.length) figure.append(made("p", "(empty)", "dim"));
    for (const [name, boxes] of own) {
      const lane = put(made("div", undefined, "lane"), made("span", name, "name"));
      for (const [text, mark] of boxes.slice(0, BOXES_MOST)) {
        const changed = !there.has(`${name}\n${text}`);
        const box = made("span", text, `box ${mark}${changed ? " changed" : ""}`);
        if (changed) box.dataset.sign = sign;
        box.title = changed ? `${mark}; ${sign === "+" ? "new after the step" : "gone after the step"}` : mark;
        lane.append(box);
      }
      if (boxes.length > BOXES_MOST) lane.append(made("span", `and ${boxes.length - BOXES_MOST} more`, "dim"));
      if (!boxes.length) lane.append(made("span", "(empty)", "dim"));
      figure.append(lane);
    }
    return figure;
  };

  const SVG = "http://www.w3.org/2000/svg";
  const drawn = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");

  const NARROW = 560, LONG = 1e7;
  const short = (value) => {
    const power = Math.min(4, Math.floor(Math.log10(value) / 3));
    return `${(value / 1000 ** power).toPrecision(4)} ${["", "k", "M", "G", "T"][power]}`;
  };

  // Moves labels apart: each keeps its order and at least `gap` from the one before it.
  const apart = (places, gap, low, high) => {
    const sorted = [...places].sort((one, other) => one.y - other.y);
    sorted.forEach((place, at) => { place.label = Math.max(at ? sorted[at - 1].label + gap : low, place.y); });
    for (let at = sorted.length - 1; at >= 0; at -= 1)
      sorted[at].label = Math.min(at < sorted.length - 1 ? sorted[at + 1].label - gap : high, sorted[at].label);
    return places;
  };

  // A curve of bytes. Bounds far above the bytes stand over a break of the axis, in their order.
  const FAR = 4, LETTER = 7.4, BAND = 17;
  const bytes = ({ at, bytes: points, trigger, target, limit }, wide) => {
    const highest = Math.max(1, ...points.map(([, value]) => value));
    const given = [["limit", limit], ["trigger", trigger], ["target", target]].filter(([, value]) => Number.isFinite(value));
    const near = given.filter(([, value]) => value <= FAR * highest);
    const far = given.filter(([, value]) => value > FAR * highest).sort(([, one], [, other]) => other - one);
    const values = [...points.map(([, value]) => value), ...near.map(([, value]) => value)];
    const most = Math.max(highest, ...values), least = Math.min(...values, most);
    const bottom = least > most / 2 ? Math.max(0, Math.floor(least - (most - least) * 0.15) - 1) : 0;
    const number = (value) => wide < NARROW && value >= LONG ? short(value) : grouped(value);
    const length = (texts) => Math.max(0, ...texts.map((text) => text.length));
    const LEFT = 16 + LETTER * length([number(most), number(bottom)]);
    const RIGHT = given.length ? 24 + LETTER * length(given.map(([name, value]) => `${name} ${number(value)}`)) : 14;
    const TOP = 26 + (far.length ? far.length * BAND + 12 : 0), BOTTOM = 26, HIGH = TOP + 200;
    const WIDE = Math.max(wide, LEFT + RIGHT + 140), right = WIDE - RIGHT, base = HIGH - BOTTOM;
    const seqs = [at, ...points.map(([seq]) => seq)];
    const first = Math.min(...seqs), last = Math.max(...seqs);
    const x = (seq) => LEFT + (right - LEFT) * (last > first ? (seq - first) / (last - first) : 0.5);
    const y = (value) => base - (base - TOP) * (value - bottom) / (most - bottom || 1);
    const title = `bytes after each event, ${first} to ${last}`;
    const svg = drawn("svg", { role: "img", "aria-label": title, width: WIDE, height: HIGH, viewBox: `0 0 ${WIDE} ${HIGH}` });
    const text = (place, value, kind = "") => svg.append(drawn("text", { ...place, class: kind }, value));
    const bound = ([name, value], height, label) => {
      svg.append(drawn("line", { x1: LEFT, x2: right, y1: height, y2: height, class: name }));
      svg.append(drawn("polyline", { points: `${right},${height} ${right + 14},${label}` }));
      text({ x: right + 17, y: label + 4 }, `${name} ${number(value)}`);
    };
    svg.append(drawn("polyline", { points: `${LEFT},${TOP - 6} ${LEFT},${base} ${right},${base}` }));
    let path = "";
    points.forEach(([seq, value], index) => {
      path += index ? ` H ${x(seq).toFixed(1)} V ${y(value).toFixed(1)}` : `M ${x(seq).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    if (path) {
      svg.append(drawn("path", { d: `${path} V ${base} H ${x(points[0][0]).toFixed(1)} Z`, class: "area" }));
      svg.append(drawn("path", { d: path, class: "bytes" }));
    }
    far.forEach((one, index) => bound(one, 26 + index * BAND, 26 + index * BAND));
    if (far.length) {
      const teeth = Array.from({ length: Math.floor((right - LEFT) / 8) + 1 }, (_, tooth) => `${LEFT + 8 * tooth},${TOP - 14 + 5 * (tooth % 2)}`);
      svg.append(drawn("polyline", { points: teeth.join(" "), class: "break" }));
    }
    const places = apart(near.map((one) => ({ one, y: y(one[1]) })), 15, TOP, base);
    for (const place of places) bound(place.one, place.y, place.label);
    const there = points.find(([seq]) => seq === at);
    svg.append(drawn("line", { x1: x(at), x2: x(at), y1: 16, y2: base, class: "at" }));
    if (there) svg.append(drawn("circle", { cx: x(at), cy: y(there[1]), r: 4 }));
    const side = x(at) > WIDE / 2 ? { x: x(at) - 6, "text-anchor": "end" } : { x: x(at) + 6 };
    text({ ...side, y: 12 }, `seq ${at}${there ? `: ${grouped(there[1])} bytes` : ""}`);
    text({ x: LEFT - 8, y: y(most) + 4, "text-anchor": "end" }, number(most), "dim");
    text({ x: LEFT - 8, y: base + 4, "text-anchor": "end" }, number(bottom), "dim");
    text({ x: LEFT, y: HIGH - 8 }, String(first), "dim");
    text({ x: right, y: HIGH - 8, "text-anchor": "end" }, String(last), "dim");
    const notes = [...(far.length ? [`the axis is cut below ${far.map(([name]) => name).join(", ")}`] : []), ...(bottom ? ["the axis does not begin at 0"] : [])];
    return put(made("figure"), made("figcaption", [title, ...notes].join("; ")), scroll(svg, title));
  };

  return { made, put, worded, table, scroll, lanes, bytes, grouped };
})();
