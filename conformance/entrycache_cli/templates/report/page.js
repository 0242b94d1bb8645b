(() => {
  const { made, put, worded, table, scroll, lanes, bytes, grouped } = draw;
  const data = JSON.parse(document.getElementById("data").textContent);
  const say = (number) => data.texts[number];
  const at = (id) => document.getElementById(id);
  const AT_ONCE = 100, STEPS_MOST = 30, STATE_MOST = 240, CASE_COLUMNS = 7;

  // --- Rules: the states, their letters, and the text of a rule

  const STATES = [
    ["violates", "V", "violates: an answer or a row shows that the rule is broken"],
    ["conforms", "C", "conforms: it fired, and no difference was found"],
    ["conforms in part", "P", "conforms in part: it conforms at a level; at another one it was not decided"],
    ["not reached", "E", "not reached: the search ended at a failure before the rule had fired often enough"],
    ["inconclusive", "I", "inconclusive: the trace lacks what the rule needs"],
    ["nothing-checked", "N", "nothing-checked: it fired too rarely for a verdict, or never"],
  ];
  const LETTERS = new Map(STATES.map(([word, letter]) => [word, letter]));
  const letterOf = (word) => LETTERS.get(word) ?? word.slice(0, 1).toUpperCase();
  const orderOf = (word) => { const place = STATES.findIndex(([name]) => name === word); return place < 0 ? STATES.length : place; };
  const legendOf = (word) => STATES.find(([name]) => name === word)?.[2] ?? word;
  const numberOf = new Map(data.rules.map((rule, index) => [rule.id, index]));
  const named = (column, index) => {
    const twins = data.columns.filter((other) => other.name === column.name);
    return twins.length > 1 ? `${say(column.name)} (result ${index + 1})` : say(column.name);
  };
  const names = data.columns.map(named);

  const inCode = (parent, text) => {
    text.split("`").forEach((part, index) => parent.append(index % 2 ? made("code", part) : part));
    return parent;
  };
  const sourceOf = (rule) => {
    const line = put(made("p", "Source: ", "dim"));
    for (const [text, address] of rule.source) {
      if (address < 0) { inCode(line, say(text)); continue; }
      const link = made("a", say(text));
      if (say(address).startsWith("https://")) link.href = say(address);
      link.rel = "noreferrer";
      line.append(link);
    }
    return line;
  };
  const ruleText = (number) => {
    const rule = data.rules[numberOf.get(number)];
    const box = made("div", undefined, "rule-text");
    if (!rule || rule.text === undefined) return put(box, made("p", `${say(number)}: the specification of this version has no such rule`));
    const sentence = put(made("p", undefined, "sentence"), made("b", `${say(number)} `));
    return put(box, inCode(sentence, say(rule.text)), inCode(made("p", undefined, "dim"), say(rule.intent)), sourceOf(rule));
  };

  // --- The verdict of each subject, with its exceptions and sums

  const sumsOf = (column) => {
    const sums = new Map();
    for (const cell of column.rules) if (cell) sums.set(say(cell[0]), (sums.get(say(cell[0])) ?? 0) + 1);
    return [...sums].sort(([one], [other]) => orderOf(one) - orderOf(other));
  };
  const tile = (number, text) => put(made("div"), made("b", grouped(number)), made("span", text, "dim"));
  const sumBar = (sums) => {
    const bar = made("div", undefined, "sums");
    bar.setAttribute("aria-hidden", "true");
    const legend = made("ul", undefined, "legend");
    for (const [word, number] of sums) {
      const part = worded("i", word, "", "");
      part.style.flexGrow = number;
      bar.append(part);
      const item = put(made("li"), worded("span", word, "word", `${letterOf(word)} ${word}`), ` ${number}`);
      item.title = legendOf(word);
      legend.append(item);
    }
    return [bar, legend];
  };
  const exceptionsOf = (column) => {
    if (!column.exceptions.length) return say(column.kind) === "run" ? made("p", "No exceptions: nothing is waived, skipped or not offered.", "dim") : null;
    const box = put(made("div", undefined, "exceptions"), made("b", `The verdict does not cover (${column.exceptions.length}):`));
    const list = made("ul");
    for (const [kind, what, why] of column.exceptions) put(list, put(made("li"), made("b", say(kind)), ` ${say(what)}: ${say(why)}`));
    return put(box, list);
  };
  const levelsOf = (column) => {
    if (!column.levels.length) return null;
    const shown = table(["level", "verdict", "examples", "steps"], "", 2);
    for (const [name, verdict, examples, steps] of column.levels)
      put(shown.body.insertRow(), made("td", say(name)), put(made("td"), worded("span", say(verdict), "word")),
        made("td", grouped(examples), "number"), made("td", grouped(steps), "number"));
    return scroll(shown, "levels");
  };
  const aboutOf = (column) => {
    if (!column.about.length) return null;
    const list = made("dl", undefined, "about");
    for (const [name, value] of column.about) put(list, made("dt", say(name)), made("dd", say(value)));
    return list;
  };
  const conforming = (column) => `${column.levels.filter((level) => say(level[1]) === "conforms").length}/${column.levels.length}`;
  const cardOf = (column, index) => {
    const card = worded("article", say(column.verdict), "card", "");
    const title = put(made("h2", undefined, "verdict"), made("span", names[index], "name"), worded("span", say(column.verdict), "word"));
    const sums = sumsOf(column), kind = say(column.kind);
    const tiles = put(made("div", undefined, "tiles"));
    if (kind !== "lines") tiles.append(tile(column.failures, kind === "audit" ? "violations" : "failures"));
    if (column.levels.length)
      put(tiles, tile(conforming(column), "levels conform"), tile(column.levels.reduce((sum, level) => sum + level[3], 0), "judged steps"));
    if (sums.length) tiles.append(tile(sums.reduce((sum, [, number]) => sum + number, 0), "rules"));
    return put(card, title, exceptionsOf(column), tiles, ...(sums.length ? sumBar(sums) : []),
      put(made("div", undefined, "facts"), levelsOf(column), aboutOf(column)));
  };
  const overview = () => {
    const shown = table(["subject", "verdict", "exceptions", "failures", "levels conform", "rules"], "");
    data.columns.forEach((column, index) => {
      const head = made("th", names[index]), sums = sumsOf(column), cell = made("td");
      head.scope = "row";
      if (sums.length) {
        const [bar] = sumBar(sums);
        bar.classList.add("small");
        put(cell, bar, made("span", sums.map(([word, number]) => `${letterOf(word)} ${number}`).join("  "), "dim"));
      }
      put(shown.body.insertRow(), head, put(made("td"), worded("span", say(column.verdict), "word")), made("td", String(column.exceptions.length)),
        made("td", grouped(column.failures)), made("td", column.levels.length ? conforming(column) : ""), cell);
    });
    const frame = scroll(shown, "all subjects");
    frame.classList.add("tall");
    return put(made("div", undefined, "card"), frame);
  };
  const CARDS_MOST = 6;
  const showSubjects = () => {
    const cards = () => put(made("div", undefined, "subjects"), ...data.columns.map(cardOf));
    if (data.columns.length <= CARDS_MOST) { at("subjects").append(cards()); return; }
    const whole = put(made("details"), made("summary", "Each subject with its exceptions, levels and versions"));
    whole.addEventListener("toggle", () => { if (whole.childElementCount === 1) whole.append(cards()); });
    put(at("subjects"), overview(), whole);
  };

  const showDifferences = () => {
    const comparable = data.columns.map((column, index) => [column, index]).filter(([column]) => column.rules.some(Boolean));
    if (comparable.length < 2) return new Set();
    const wordsOf = (index) => new Set(comparable.map(([column]) => column.rules[index]).filter(Boolean).map((cell) => say(cell[0])));
    const differing = data.rules.map((rule, index) => index).filter((index) => wordsOf(index).size > 1);
    const opposed = differing.filter((index) => wordsOf(index).has("violates"));
    const rest = differing.filter((index) => !opposed.includes(index));
    const tableOf = (indices) => {
      const shown = table(["rule", ...comparable.map(([, index]) => names[index])]);
      for (const index of indices) {
        const rule = data.rules[index], head = made("th", say(rule.id));
        head.scope = "row";
        if (rule.text !== undefined) head.title = say(rule.text);
        const row = put(shown.body.insertRow(), head);
        for (const [column] of comparable) {
          const cell = column.rules[index];
          row.append(cell ? put(made("td"), worded("span", say(cell[0]), "word", `${letterOf(say(cell[0]))} ${say(cell[0])}`)) : made("td", "-"));
        }
      }
      return scroll(shown, "rules with different verdicts");
    };
    const card = made("div", undefined, "card");
    put(card, opposed.length ? tableOf(opposed) : made("p", "No rule is violated by one subject and not by another."));
    if (rest.length) {
      const more = put(made("details"), made("summary", `${rest.length} rules whose verdicts differ otherwise: not all subjects decide them alike`));
      more.addEventListener("toggle", () => { if (more.childElementCount === 1) more.append(tableOf(rest)); });
      card.append(more);
    }
    put(at("differences"), made("h2", `Where they differ (${opposed.length} of ${data.rules.length} rules)`), card);
    return new Set(opposed);
  };

  // --- Sums of an audit by broker and rule

  const showSums = () => {
    data.columns.forEach((column, index) => {
      if (!column.brokers) return;
      const shown = table(["broker", ...column.broken.map(say), "violations", "conform", "violated", "inconclusive", "nothing-checked"], "", 1);
      for (const [name, verdicts, counts] of column.brokers) {
        const head = made("th", say(name));
        head.scope = "row";
        const row = put(shown.body.insertRow(), head);
        for (const number of counts) row.append(put(made("td", undefined, "number"), number ? worded("span", "violates", "word", grouped(number)) : "0"));
        row.append(made("td", grouped(counts.reduce((sum, number) => sum + number, 0)), "number"));
        for (const number of verdicts) row.append(made("td", grouped(number), "number"));
      }
      const frame = scroll(shown, "violations by broker and rule");
      frame.classList.add("tall");
      const card = put(made("div", undefined, "card"), made("h3", `${names[index]}: violations by broker and rule, then rules by verdict`), frame);
      if (column.more) card.append(made("p", `and ${column.more} more brokers with at most as many violations`, "dim"));
      at("sums").append(card);
    });
    if (at("sums").childElementCount) at("sums").prepend(made("h2", "Brokers"));
  };

  // --- The grid of rules: one cell a rule, one row a subject

  let panel = null;
  const openPanel = (family, index) => {
    panel?.remove();
    const rule = data.rules[index];
    panel = put(made("article", undefined, "card panel"), ruleText(rule.id));
    const shown = table(["subject", "verdict", "levels: judged steps in which it fired"]);
    data.columns.forEach((column, place) => {
      const cell = column.rules[index];
      if (!cell) return;
      const levels = cell[1].map(([level, state, fired]) => `${say(level)}: ${say(state)}, ${grouped(fired)}`);
      const row = put(shown.body.insertRow(), made("td", names[place]), put(made("td"), worded("span", say(cell[0]), "word")), made("td", levels.join("; ")));
      if (say(cell[0]) !== "violates") return;
      const button = made("button", "Show its failures");
      button.type = "button";
      button.addEventListener("click", () => look(`${say(rule.id)} ${say(column.name)}`));
      row.append(put(made("td"), button));
    });
    put(panel, scroll(shown, "verdicts of the rule"));
    family.after(panel);
    panel.scrollIntoView({ block: "nearest" });
  };
  const titleOf = (rule, cell) => {
    const levels = cell[1].map(([level, state, fired]) => `${say(level)}: ${say(state)}, fired in ${fired} judged steps`);
    return [`${say(rule.id)}: ${legendOf(say(cell[0]))}`, ...levels, ...(rule.text === undefined ? [] : [say(rule.text)])].join("\n");
  };
  const cellOf = (index, column, family, differing) => {
    const rule = data.rules[index], cell = column.rules[index];
    const number = say(rule.id).slice(say(rule.family).length + 1) || say(rule.id);
    if (!cell) { const none = put(made("span", number, "cell none"), made("b", "-")); none.title = `${say(rule.id)}: not in this result`; return none; }
    const word = say(cell[0]);
    const button = put(worded("button", word, `cell${differing.has(index) ? " differs" : ""}`, number), made("b", letterOf(word)));
    button.type = "button";
    button.title = titleOf(rule, cell);
    button.setAttribute("aria-label", `${say(rule.id)}, ${word}`);
    button.tabIndex = -1;
    button.addEventListener("click", () => openPanel(family, index));
    return button;
  };
  const showMatrix = (differing) => {
    if (!data.rules.length) return;
    const families = new Map();
    data.rules.forEach((rule, index) => { families.set(rule.family, [...(families.get(rule.family) ?? []), index]); });
    const rows = data.columns.map((column, index) => [column, index]).filter(([column]) => column.rules.some(Boolean));
    if (!rows.length) return;
    const grid = made("div", undefined, `families${rows.length > 1 ? " wide" : ""}`);
    for (const [family, indices] of families) {
      const card = put(made("article", undefined, "card"), made("h3", say(family)));
      for (const [column, place] of rows) {
        if (!indices.some((index) => column.rules[index])) continue;
        const cells = made("div", undefined, "cells");
        if (rows.length > 1) cells.append(made("span", names[place], "who"));
        put(card, put(cells, put(made("div", undefined, "strip"), ...indices.map((index) => cellOf(index, column, card, differing)))));
      }
      if (card.childElementCount > 1) grid.append(card);
    }
    const words = [...new Set(rows.flatMap(([column]) => sumsOf(column).map(([word]) => word)))].sort((one, other) => orderOf(one) - orderOf(other));
    const legend = made("ul", undefined, "legend");
    for (const word of words) put(legend, put(made("li"), put(worded("span", word, "cell", ""), made("b", letterOf(word))), legendOf(word)));
    if (differing.size) put(legend, put(made("li"), made("span", "", "cell none differs"), "a rule that some violate and others do not"));
    put(at("matrix"), put(made("h2", "Rules "), made("span", "one cell a rule; click a cell for its sentence and source", "dim")), legend, grid);
    const all = [...grid.querySelectorAll("button.cell")];
    if (all.length) all[0].tabIndex = 0;
    grid.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const here = all.indexOf(document.activeElement);
      if (!by || here < 0) return;
      event.preventDefault();
      const next = all[Math.max(0, Math.min(all.length - 1, here + by))];
      all[here].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  };

  // --- Failures

  const piecesOf = (pieces) => {
    const text = made("pre");
    for (const [piece, differs] of pieces) text.append(differs ? made("mark", say(piece)) : say(piece));
    return text;
  };
  const answers = (failure) => put(made("div", undefined, "answers"),
    put(made("div", undefined, "expected"), made("b", "expected"), piecesOf(failure.expected)),
    put(made("div", undefined, "got"), made("b", "got"), piecesOf(failure.got)));
  const copyable = (text) => {
    const button = made("button", "Copy"), code = made("code", text);
    button.type = "button";
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch {
        getSelection().selectAllChildren(code);
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      }
    });
    return put(made("div", undefined, "copy"), code, button);
  };
  const opText = (text) => {
    const [name, ...rest] = text.split("  ");
    return put(made("code"), made("b", name), rest.length ? ` ${rest.join("  ")}` : "");
  };
  const stepOf = (failure, cells, state) => {
    const [step, op, expected, , rule, , after] = cells.map(say);
    const item = put(made("li"), put(made("div"), made("span", /^\d+$/.test(step) ? `step ${step}` : step, "number"), opText(op)));
    put(item, put(made("p", undefined, "answer"), made("code", expected), made("span", rule ? `  by ${rule}` : "", "dim")));
    if (after) {
      const line = `${state}: ${after.split("\n").join(" | ")}`;
      const text = made("p", line.length > STATE_MOST ? `${line.slice(0, STATE_MOST)} ..` : line, "answer mono dim");
      text.title = after;
      item.append(text);
    }
    return item;
  };
  const laneTexts = (own) => own.map(([name, boxes]) => [say(name), boxes.map(([text, mark]) => [say(text), say(mark)])]);
  const steps = (failure) => {
    const state = say(failure.columns[CASE_COLUMNS - 1]);
    const list = made("ol", undefined, "steps");
    const before = laneTexts(failure.before), after = laneTexts(failure.after);
    const first = failure.rows.slice(0, failure.bad), hidden = Math.max(0, first.length - STEPS_MOST);
    if (hidden) {
      const early = put(made("details"), made("summary", `${hidden} earlier steps`)), inner = made("ol", undefined, "steps");
      early.addEventListener("toggle", () => {
        if (!inner.childElementCount) for (const cells of first.slice(0, hidden)) inner.append(stepOf(failure, cells, state));
      });
      list.append(put(made("li"), put(early, inner)));
    }
    for (const cells of first.slice(hidden)) list.append(stepOf(failure, cells, state));
    const [step, op] = failure.rows[failure.bad].map(say);
    const where = step ? `step ${step}` : "the run";
    const drawnState = (title, own, others, sign) => {
      if (!own.length && !others.length) return;
      const item = put(made("li", undefined, "state"), lanes(title, own, others, sign));
      list.append(item);
    };
    drawnState(`before ${where}`, before, after, "\u2212");
    const wrong = put(made("li", undefined, "wrong"), put(made("div"), made("span", where, "number"), opText(op), " ", worded("span", "violates", "word", "fails here")), answers(failure));
    list.append(wrong);
    drawnState(`after ${where}, as the reference expects it`, after, before, "+");
    for (const cells of failure.rows.slice(failure.bad + 1)) list.append(stepOf(failure, cells, state));
    return list;
  };
  const rowsOf = (failure) => {
    const needed = failure.needed ?? failure.columns.length, inText = new Set();
    for (const [piece] of [...failure.expected, ...failure.got]) for (const word of say(piece).split(/\W+/)) inText.add(word);
    const build = (count) => {
      const shown = table(failure.columns.slice(0, count).map(say), "rows");
      failure.rows.forEach((cells, index) => {
        const bad = index === failure.bad, row = shown.body.insertRow();
        if (bad) row.className = "bad";
        cells.slice(0, count).forEach((text, place) => {
          const marked = failure.timeline && bad && inText.has(say(failure.columns[place]));
          const wrong = bad && failure.wrong !== null && place === failure.wrong;
          const cell = made("td", (bad && place === 0 ? "\u25b6 " : "") + say(text), marked ? "in-verdict" : wrong ? "wrong" : "");
          if (say(text).length > 60) cell.classList.add("long");
          row.append(cell);
        });
      });
      return shown;
    };
    const frame = scroll(build(needed), "rows");
    if (needed >= failure.columns.length) return [frame];
    const button = made("button", `Show ${failure.columns.length - needed} more columns`);
    button.type = "button";
    button.addEventListener("click", () => { frame.replaceChildren(build(failure.columns.length)); button.remove(); });
    return [frame, button];
  };
  const fill = (element, failure) => {
    const inside = made("div", undefined, "inside");
    element.append(inside);
    if (failure.rules.length > 1) inside.append(made("p", `The failure breaks at least one of these ${failure.rules.length} rules; the likeliest stands first.`, "dim"));
    for (const rule of failure.rules) inside.append(ruleText(rule));
    const isCase = failure.rows && failure.columns.length === CASE_COLUMNS && Number.isInteger(failure.bad) && failure.rows[failure.bad] && !failure.timeline;
    if (failure.config && say(failure.config)) put(inside, put(made("p", "Settings: "), made("code", say(failure.config))));
    if (isCase) inside.append(steps(failure));
    else put(inside, answers(failure), ...(failure.rows ? rowsOf(failure) : []));
    if (failure.timeline) inside.append(bytes(failure.timeline, inside.clientWidth - 40));
    if (say(failure.replay)) put(inside, made("b", "Replay it"), copyable(say(failure.replay)));
    if (say(failure.case)) put(inside, put(made("p", "Case file: "), made("code", say(failure.case))));
    for (const note of failure.notes) inside.append(made("p", say(note), "note mono"));
  };

  const words = data.failures.map((failure) => [
    say(data.columns[failure.of].name), ...failure.rules.map(say), ...failure.levels.map(say),
    ...(failure.rows || []).map((row) => say(row[1])), ...failure.got.map(([piece]) => say(piece)),
  ].join(" ").toLowerCase());
  const list = at("list"), more = at("more"), input = at("filter"), count = at("count");
  let found = [], shown = 0;
  const showMore = () => {
    const page = document.createDocumentFragment();
    const first = shown === 0;
    for (const index of found.slice(shown, shown + AT_ONCE)) {
      const failure = data.failures[index];
      const element = made("details");
      const title = failure.title === undefined ? failure.rules.map(say).join(", ") : say(failure.title);
      const where = [names[failure.of], ...failure.levels.map(say)].join(", ");
      element.append(put(made("summary"), made("span", title, "title"), made("span", ` ${where}`, "dim")));
      element.addEventListener("toggle", () => { if (element.childElementCount === 1) fill(element, failure); });
      page.append(element);
    }
    list.append(page);
    shown = Math.min(found.length, shown + AT_ONCE);
    more.hidden = shown === found.length;
    if (first && list.firstElementChild) list.firstElementChild.open = true;
  };
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = [];
    words.forEach((text, index) => { if (wanted.every((word) => text.includes(word))) found.push(index); });
    const rest = data.more ? `; ${data.more} more violations are counted, without their rows` : "";
    count.textContent = `${found.length} of ${data.failures.length} failures${rest}`;
    list.replaceChildren();
    shown = 0;
    showMore();
  };
  const look = (text) => { input.value = text; filter(); at("failures").scrollIntoView(); };
  const step = (by) => {
    const all = [...list.querySelectorAll(":scope > details > summary")];
    const here = all.findIndex((one) => one === document.activeElement);
    const next = all[Math.max(0, Math.min(all.length - 1, here + by))];
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
  at("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.className || (dark ? "dark" : "light");
    document.documentElement.className = now === "dark" ? "light" : "dark";
  });
  at("controls").hidden = false;
  showSubjects();
  const differing = showDifferences();
  showSums();
  showMatrix(differing);
  if (data.failures.length) filter(); else at("failures").hidden = true;
})();
