
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const say = (number) => data.texts[number];
  const AT_ONCE = 100;
  const made = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const put = (parent, ...children) => { for (const child of children) parent.append(child); return parent; };
  const kindOf = (verdict) => verdict.replace(/[^a-z-]+.*$/, "");
  const table = (head, kind) => {
    const element = made("table", undefined, kind);
    const row = put(element.createTHead()).insertRow();
    for (const name of head) { const cell = made("th", name); cell.scope = "col"; row.append(cell); }
    element.body = element.createTBody();
    return element;
  };

  const showSubjects = () => {
    const shown = table(["subject", "verdict", "levels", "how"]);
    for (const column of data.columns) {
      const row = shown.body.insertRow();
      const verdict = say(column.verdict);
      const levels = column.levels.map(([name, judged, steps]) =>
        `${say(name)}: ${say(judged)}${steps ? `, ${steps} steps` : ""}`.replace(/^: /, ""));
      put(row, made("td", say(column.name)), made("td", verdict, kindOf(verdict)),
        made("td", levels.join("\n")), made("td", say(column.about)));
    }
    document.getElementById("subjects").append(shown);
  };

  const showMatrix = () => {
    if (!data.rules.length) return;
    const shown = table(["rule", ...data.columns.map((column) => say(column.name))]);
    data.rules.forEach((rule, index) => {
      const row = shown.body.insertRow();
      row.append(made("th", say(rule)));
      for (const column of data.columns) {
        const [verdict, fired] = column.rules[index] || [];
        const cell = made("td", undefined, verdict === undefined ? "" : kindOf(say(verdict)));
        const text = verdict === undefined ? "" : say(verdict) + (fired ? ` (${fired})` : "");
        if (verdict !== undefined && say(verdict) === "violates") {
          const button = made("button", text, "cell");
          button.type = "button";
          button.addEventListener("click", () => { look(`${say(rule)} ${say(column.name)}`); });
          cell.append(button);
        } else cell.textContent = text;
        row.append(cell);
      }
    });
    const whole = made("details");
    whole.open = data.rules.length <= 200;
    put(whole, made("summary", `${data.rules.length} rules by ${data.columns.length} subjects`), shown);
    document.getElementById("matrix").append(whole);
  };

  const SVG = "http://www.w3.org/2000/svg";
  const drawn = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const picture = (title, lanes, others) => {
    const HIGH = 26, LETTER = 7.4, MOST = 60;
    const there = new Set(others.flatMap(([name, boxes]) => boxes.map(([text]) => `${say(name)}\n${say(text)}`)));
    const left = 12 + LETTER * Math.max(4, ...lanes.map(([name]) => say(name).length));
    const svg = drawn("svg", { role: "img", "aria-label": title });
    let wide = left + 60;
    lanes.forEach(([name, boxes], line) => {
      const top = 4 + line * (HIGH + 8);
      svg.append(drawn("text", { x: 2, y: top + 17 }, say(name)));
      let at = left;
      for (const [text, mark] of boxes.slice(0, MOST)) {
        const long = 12 + LETTER * say(text).length;
        const changed = there.has(`${say(name)}\n${say(text)}`) ? "" : " changed";
        svg.append(drawn("rect", { x: at, y: top, width: long, height: HIGH, rx: 3, class: say(mark) + changed }));
        svg.append(drawn("text", { x: at + 6, y: top + 17 }, say(text)));
        at += long + 4;
      }
      const rest = boxes.length ? (boxes.length > MOST ? `and ${boxes.length - MOST} more` : "") : "(empty)";
      svg.append(drawn("text", { x: at + 2, y: top + 17 }, rest));
      wide = Math.max(wide, at + 8 + LETTER * rest.length);
    });
    const high = Math.max(1, lanes.length) * (HIGH + 8) + 4;
    for (const [key, value] of Object.entries({ width: wide, height: high, viewBox: `0 0 ${wide} ${high}` }))
      svg.setAttribute(key, value);
    return put(made("figure"), made("figcaption", title), svg);
  };

  const timeline = ({ at, bytes, trigger, target }) => {
    const WIDE = 720, HIGH = 170, LEFT = 120, TOP = 22, BOTTOM = 24, FAR = 4;
    const highest = Math.max(1, ...bytes.map(([, value]) => value));
    const told = [["trigger", trigger], ["target", target]].filter(([, value]) => value !== null);
    const marks = told.filter(([, value]) => value <= FAR * highest);
    const most = Math.max(highest, ...marks.map(([, value]) => value));
    const first = Math.min(at, ...bytes.map(([seq]) => seq)), last = Math.max(at, ...bytes.map(([seq]) => seq));
    const x = (seq) => LEFT + (WIDE - LEFT - 10) * (last > first ? (seq - first) / (last - first) : 0.5);
    const y = (value) => HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * Math.max(0, value) / most;
    const above = told.filter((mark) => !marks.includes(mark)).map(([name, value]) => `; ${name} ${value}, far above`);
    const title = `bytes cached, events ${first} to ${last}; the offending one is ${at}${above.join("")}`;
    const svg = drawn("svg", { role: "img", "aria-label": title, width: WIDE, height: HIGH, viewBox: `0 0 ${WIDE} ${HIGH}` });
    let steps = "";
    bytes.forEach(([seq, value], index) => {
      steps += index ? ` H ${x(seq).toFixed(1)} V ${y(value).toFixed(1)}` : `M ${x(seq).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    if (steps) svg.append(drawn("path", { d: steps, class: "bytes" }));
    for (const [name, value] of marks) {
      svg.append(drawn("line", { x1: LEFT, x2: WIDE - 10, y1: y(value), y2: y(value), class: name }));
      const right = name === "target";
      const place = right ? { x: WIDE - 12, "text-anchor": "end" } : { x: LEFT + 4 };
      svg.append(drawn("text", { ...place, y: y(value) - 4 }, `${name} ${value}`));
    }
    svg.append(drawn("line", { x1: x(at), x2: x(at), y1: TOP, y2: HIGH - BOTTOM, class: "at" }));
    svg.append(drawn("text", { x: 2, y: TOP + 5 }, String(most)), drawn("text", { x: 2, y: HIGH - BOTTOM }, "0"));
    svg.append(drawn("text", { x: LEFT, y: HIGH - 6 }, String(first)));
    svg.append(drawn("text", { x: WIDE - 10, y: HIGH - 6, "text-anchor": "end" }, String(last)));
    return put(made("figure"), made("figcaption", title), svg);
  };

  const fill = (element, failure) => {
    if (failure.rows) {
      if (say(failure.config)) element.append(made("p", `config ${say(failure.config)}`));
      const shown = table(failure.columns.map(say), "cells");
      failure.rows.forEach((cells, index) => {
        const bad = index === failure.bad;
        const row = shown.body.insertRow();
        if (bad) row.className = "bad";
        cells.forEach((text, at) => row.append(made("td", say(text), bad && at === failure.wrong ? "wrong" : "")));
      });
      element.append(shown);
      if (failure.before.length || failure.after.length)
        element.append(put(made("div", undefined, "pictures"),
          picture("before the step that fails", failure.before, failure.after),
          picture("after it, as it should be", failure.after, failure.before)));
    }
    if (failure.timeline) element.append(timeline(failure.timeline));
    const told = [["expected", say(failure.expected)], ["got", say(failure.got)], ["case file", say(failure.case)],
      ["replay it", say(failure.replay)]];
    for (const [name, text] of told) if (text) element.append(put(made("p", `${name}: `), made("code", text)));
    for (const note of failure.notes) element.append(made("p", say(note), "cells"));
  };

  const words = data.failures.map((failure) => [
    say(data.columns[failure.of].name), ...failure.rules.map(say), ...failure.levels.map(say),
    ...(failure.rows || []).map((row) => say(row[1])), say(failure.got),
  ].join(" ").toLowerCase());
  const list = document.getElementById("list"), more = document.getElementById("more");
  const input = document.getElementById("filter"), count = document.getElementById("count");
  let found = [], shown = 0;
  const showMore = () => {
    const page = document.createDocumentFragment();
    for (const index of found.slice(shown, shown + AT_ONCE)) {
      const failure = data.failures[index];
      const element = made("details");
      const title = failure.title === undefined ? failure.rules.map(say).join(", ") : say(failure.title);
      const where = [say(data.columns[failure.of].name), ...failure.levels.map(say).filter(Boolean)].join(", ");
      element.append(made("summary", `${title} (${where})`));
      element.addEventListener("toggle", () => { if (element.childElementCount === 1) fill(element, failure); });
      page.append(element);
    }
    list.append(page);
    shown = Math.min(found.length, shown + AT_ONCE);
    more.hidden = shown === found.length;
  };
  const filter = () => {
    const asked = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = [];
    words.forEach((text, index) => { if (asked.every((word) => text.includes(word))) found.push(index); });
    count.textContent = `${found.length} of ${data.failures.length} failures`;
    list.replaceChildren();
    shown = 0;
    showMore();
  };
  const look = (text) => { input.value = text; filter(); count.scrollIntoView(); };
  const step = (by) => {
    const all = [...list.querySelectorAll("summary")];
    const at = all.indexOf(document.activeElement);
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (next) next.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = document.activeElement === input;
    if (event.key === "Escape") { input.value = ""; filter(); input.blur(); }
    else if (typing) return;
    else if (event.key === "/") { event.preventDefault(); input.focus(); }
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
  });
  input.addEventListener("input", filter);
  more.addEventListener("click", showMore);
  document.getElementById("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.className || (dark ? "dark" : "light");
    document.documentElement.className = now === "dark" ? "light" : "dark";
  });
  document.getElementById("controls").hidden = false;
  showSubjects();
  showMatrix();
  filter();
})();
