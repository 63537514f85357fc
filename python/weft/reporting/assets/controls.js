// The controls: each sets a part of the state, and shows it.
const press = (buttons, pressed) => { for (const button of buttons) button.setAttribute("aria-pressed", String(pressed(button))); };

// Legend and classes: a click hides or shows one; a double click, or a click with a modifier, leaves only this one.
const switches = (group, key, names, word) => {
  if (!group) return;
  const buttons = [...group.querySelectorAll("button")];
  let before = [];
  group.addEventListener("click", (event) => {
    const at = buttons.indexOf(event.target.closest("button"));
    if (at < 0) return;
    const all = buttons.map((_, i) => i), alone = all.filter((i) => i !== at);
    const isAlone = (hidden) => hidden.length === alone.length && !hidden.includes(at);
    let hidden;
    if (event.detail === 2) hidden = isAlone(before) ? [] : alone;
    else if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) hidden = isAlone(state[key]) ? [] : alone;
    else {
      before = state[key];
      hidden = before.includes(at) ? before.filter((i) => i !== at) : [...before, at].sort((a, b) => a - b);
      if (hidden.length === buttons.length) hidden = [];
    }
    change({ [key]: hidden });
    say(`${buttons.length - hidden.length} of ${plural(buttons.length, word)} shown: ${all.filter((i) => !hidden.includes(i)).map((i) => names[i]).join(", ")}`);
  });
  onChange((keys) => { if (keys.includes(key)) press(buttons, (button) => !state[key].includes(buttons.indexOf(button))); });
};
switches(document.querySelector(".legend"), "hide", page.schemes.map((one) => one.name), "scheme");
switches(document.querySelector(".chips"), "without", page.classes, "class");

// Beside the names of schemes that were not in a steady state at the chosen point: the label.
const showLabels = () => {
  for (const buttons of [document.querySelectorAll(".legend button"), tabsOf("scheme")]) {
    buttons.forEach((button, at) => {
      button.querySelector(".bad")?.remove();
      const mark = markOf(at);
      if (mark) button.append(make("small", { class: "bad", title: mark.reason }, mark.label));
    });
  }
};

// Lists of the sweep's values: the point with the chosen value that agrees in most other keys.
document.querySelectorAll(".choosers select").forEach((select) => {
  const key = Number(select.id.split("-")[1]);
  select.addEventListener("change", () => {
    const agree = (at) => values(at).filter((value, i) => i !== key && value === values(state.point)[i]).length;
    const fitting = page.points.map((_, at) => at).filter((at) => String(values(at)[key]) === select.value);
    if (!fitting.length) return;
    const best = fitting.reduce((a, b) => (agree(b) > agree(a) ? b : a));
    change({ point: best, flow: "" });
    say(`Sweep: ${page.points[best]}`);
  });
});

// Segmented controls.
const tabsOf = (name, within = document) => [...within.querySelectorAll(`.tabs[data-sets="${name}"] button`)];
const segment = (buttons, key, value) => {
  buttons.forEach((button, at) => button.addEventListener("click", () => {
    const found = value(button, at);
    change(key === "scheme" ? { scheme: found, second: secondFor(found), flow: "" } : { [key]: found, ...(key === "slow" ? { flow: "" } : {}) });
  }));
  onChange((keys) => { if (keys.includes(key)) press(buttons, (button) => value(button, buttons.indexOf(button)) === state[key]); });
};
segment(tabsOf("scheme"), "scheme", (_, at) => at);
segment(tabsOf("view"), "view", (button) => button.value);
segment(tabsOf("slow"), "slow", (_, at) => at);
for (const figure of MEASURED) segment(tabsOf("metric", element(`${figure}-section`)), figure, (_, at) => at);

// Lists of names: choose(value) for a change, shown() for the value in the state.
const list = (id, key, choose, shown) => {
  const select = element(id);
  if (!select) return;
  select.addEventListener("change", () => change(choose(select.value)));
  const show = () => { select.value = shown(); };
  onChange((keys) => { if (key.some((one) => keys.includes(one))) show(); });
};
const schemeAt = (name) => page.schemes.findIndex((one) => one.name === name);
const chooseFirst = (name) => ({ scheme: schemeAt(name), second: secondFor(schemeAt(name)), flow: "" });
const chooseSecond = (name) => {
  const second = schemeAt(name);
  return second === state.scheme ? { second, scheme: state.second, flow: "" } : { second };
};
list("other", ["minus", "second", "scheme"], (name) => (name ? { ...chooseSecond(name), minus: true } : { minus: false }), () => (state.minus ? schemeName(state.second) : ""));
list("first", ["scheme"], chooseFirst, () => schemeName(state.scheme));
list("second", ["second"], chooseSecond, () => schemeName(state.second));
list("slow-scheme", ["scheme"], chooseFirst, () => schemeName(state.scheme));
list("link", ["link"], (value) => ({ link: value === "" ? -1 : Number(value) }), () => (state.link < 0 ? "" : String(state.link)));

// Switches of axes and tables.
document.querySelectorAll("[data-toggle]").forEach((button) => {
  button.addEventListener("click", () => change({ flip: flipped(button.dataset.toggle) }));
  onChange((keys) => { if (keys.includes("flip")) button.setAttribute("aria-pressed", String(on(button.dataset.toggle))); });
});

element("reset").addEventListener("click", () => {
  change(structuredClone(DEFAULTS));
  say("All choices are as at first");
});

// The comparison's rows follow the legend, the classes and, if asked, the point.
const comparison = element("comparison");
const filterRows = () => {
  for (const { dataset, style } of comparison?.tBodies[0].rows ?? []) {
    const shown = seen(Number(dataset.scheme)) && !state.without.includes(Number(dataset.class))
      && (!on("only-point") || Number(dataset.point) === state.point);
    style.display = shown ? "" : "none";
  }
};

// The buttons below each chart.
const dataOf = (id) => (id === "fabric-drawing" ? fabricData() : charts[id].data());
const shownRows = ({ columns, kinds, rows }) => {
  const [point, scheme, klass] = ["point", "scheme", "class"].map((name) => columns.indexOf(name));
  const hidden = new Set(state.hide.map(schemeName)), without = new Set(state.without.map((at) => page.classes[at]));
  return rows.filter((row) => (point < 0 || row[point] === page.points[state.point]) && (scheme < 0 || !hidden.has(row[scheme]))
    && (klass < 0 || !without.has(row[klass]))).map((row) => row.map((value, at) => [kinds(row)[at], value]));
};
const MOST_ROWS = 500;
const showRows = async (id) => {
  const at = element(`${id}-rows`);
  if (at.hidden) return;
  const data = await dataOf(id), rows = shownRows(data), made = make("table", { class: "data" });
  const kinds = rows[0]?.map(([kind]) => kind) ?? data.columns.map(() => "text");
  fill(made, data.columns.map((title, i) => ({ title, kind: kinds[i] })), []);
  made.tBodies[0].append(...rows.slice(0, MOST_ROWS).map((row) => make("tr", {}, ...row.map(([kind, value]) => {
    const cell = make("td", kind === "text" ? {} : { class: "n" }, quantity(kind, kind === "text" ? labelOf(value) : value));
    if (kind !== "text" && value !== null) cell.dataset.v = value;
    return cell;
  }))));
  const note = rows.length > MOST_ROWS ? [make("p", { class: "caption" }, `The first ${MOST_ROWS} of ${plural(rows.length, "row")}; CSV has all.`)] : [];
  at.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Data" }, made), ...note);
};
document.querySelectorAll("[data-svg]").forEach((button) => button.addEventListener("click", async () => {
  const id = button.dataset.svg;
  const text = id === "fabric-drawing" ? standalone(drawn) : await views[id]?.view.toSVG();
  if (text) save(fileName(id, "svg"), "image/svg+xml", text);
}));
document.querySelectorAll("[data-csv]").forEach((button) => button.addEventListener("click", async () => {
  const { columns, rows } = await dataOf(button.dataset.csv);
  const shown = rows.map((row) => row.map((value, at) => (LABELLED.includes(columns[at]) ? labelOf(value) : value)));
  save(fileName(button.dataset.csv, "csv"), "text/csv", csv(columns, shown));
}));
document.querySelectorAll("[data-rows]").forEach((button) => button.addEventListener("click", () => {
  const at = element(`${button.dataset.rows}-rows`);
  at.hidden = !at.hidden;
  button.setAttribute("aria-expanded", String(!at.hidden));
  showRows(button.dataset.rows);
}));
onChange((keys) => { if (keys.includes("point")) showLabels(); });
onChange(() => {
  filterRows();
  const point = values(state.point);
  document.querySelectorAll(".choosers select").forEach((select) => { select.value = String(point[Number(select.id.split("-")[1])]); });
  element("reset").hidden = fragment() === "";
  document.querySelectorAll("[data-rows][aria-expanded='true']").forEach((button) => showRows(button.dataset.rows));
});
element("copy")?.addEventListener("click", (event) => copyText(read("tsv"), event.currentTarget));
// The link to the figures must not replace the state in the address.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  element("main").focus();
});
