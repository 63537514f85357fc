// The slowest flows of a class, why they were slow, and how to see one of them find its path.
const slowTable = element("slowest");
const slowColumns = [
  { title: "seed", kind: "number" }, { title: "flow", kind: "number" }, { title: "from", kind: "text" }, { title: "to", kind: "text" },
  { title: "bytes", kind: "bytes" }, { title: "completion time", kind: "s" }, { title: "slowdown", kind: "ratio" }, { title: "why", kind: "text" },
  { title: "path", kind: "text" },
  { title: "exploration", kind: "text" },
];

const slowRows = async () => {
  const found = await part("flows", state.point);
  return rowsOf(found?.slowest, (row) => row.scheme === schemeName(state.scheme) && row.class === page.classes[state.slow]);
};

// Why there is no exploration to see, or nothing.
const refusal = (row) => {
  if (!page.trails.command) return "These results have no scenario that weft explore could run.";
  if (!page.trails.explores[state.scheme]) return `${schemeName(state.scheme)} does not explore paths, so there is no exploration to show.`;
  if (row.explored === false) return "Not explored: the hosts share a switch, or the path was known.";
  return "";
};

// The reason is also text, for readers without a mouse.
const showHow = (row) => {
  const no = refusal(row);
  if (no) return make("span", { title: no }, MISSING, make("span", { class: "unseen" }, ` ${no}`));
  const button = make("button", { type: "button", class: "plain", "aria-label": `Exploration of flow ${row.flow}, seed ${row.seed}` }, "show how");
  button.addEventListener("click", () => change({ flow: `${row.run}/${row.flow}` }));
  return button;
};

const showSlowest = async () => {
  const rows = await slowRows();
  fill(slowTable, slowColumns, rows.map((row) => {
    const values = [row.seed, row.flow, row.src, row.dst, row.bytes, row.fct_s, row.slowdown, whyCell(row), row.path ?? MISSING, showHow(row)];
    if (row.fct_s === null) values[5] = make("span", { class: "bad" }, "unfinished");
    return values;
  }));
  const covered = page.parts.flows.length, reasons = [...new Set(rows.map(refusal))];
  element("why-note").textContent = rows.some((row) => !whyOf(row)) ? page.why.note : "";
  element("slowest-note").textContent = rows.length ? (reasons.length === 1 ? reasons[0] : "")
    : page.parts.flows.includes(state.point) ? "No flow of this class started in the measurement window."
      : `Flows are kept for ${covered} of ${page.points.length} points, to keep the page small; this one is left out.`;
  await showFlow();
};

const showFlow = async () => {
  const panel = element("flow-panel");
  const [run, flow] = state.flow.split("/");
  const row = (await slowRows()).find((one) => one.run === run && String(one.flow) === flow);
  panel.hidden = !row;
  if (!row) return;
  const title = make("h3", {}, `Flow ${row.flow} of seed ${row.seed}, ${row.src} → ${row.dst}`);
  const no = refusal(row), why = whyPanel(row);
  if (no) {
    panel.replaceChildren(title, ...(why.length ? why : [make("p", { class: "caption" }, no)]));
    return;
  }
  const name = `explore-${row.run}-${row.flow}.html`;
  const sets = page.trails.sets[`${state.point},${state.scheme}`];
  const command = `${page.trails.command} --flow ${row.flow} --seed ${row.seed}${sets ? " " + sets : ""} -o ${page.trails.folder}${name}`;
  const copy = make("button", { type: "button", class: "copy" }, "Copy command");
  copy.addEventListener("click", () => copyText(command, copy));
  const after = page.trails.pages.includes(name)
    ? make("p", {}, make("a", { href: name }, "Open the page of this flow"))
    : make("p", { class: "caption" }, `It writes ${name} next to this page; a report written after that links it.`);
  const from = page.trails.named ? [make("p", { class: "caption" }, "SCENARIO is the scenario that was run; it names other files, so it must be the original.")] : [];
  panel.replaceChildren(title, ...why, make("p", { class: "caption" }, "This command writes an animated page of how the flow found its path:"),
    make("pre", { tabindex: "0", "data-command": "explore" }, command), copy, after, ...from);
};

if (slowTable) onChange((keys) => {
  if (["point", "scheme", "slow"].some((key) => keys.includes(key))) showSlowest();
  else if (keys.includes("flow")) showFlow();
});
document.querySelectorAll("[data-slow]").forEach((button) => button.addEventListener("click", () => {
  const row = button.closest("tr").dataset;
  change({ slow: page.classes.indexOf(button.dataset.slow), point: Number(row.point), scheme: Number(row.scheme), second: secondFor(Number(row.scheme)) });
  element("slowest-section-title").focus();
  element("slowest-section").scrollIntoView();
}));
