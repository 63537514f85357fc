// Why a flow was slow: its causes as a bar and as a list, and the way to its time line.
const whyOf = (row) => page.why.flows[`${row.run}/${row.flow}`];
const causeName = ([cause, link, share, note]) => `${cause}${link ? " " + link : ""}${note ? ` (${note})` : ""} ${quantity("share", share)}`;
const causeStyle = ([cause, , share]) => `--cause: var(--cause-${page.why.names.indexOf(cause)}); flex-grow: ${share}`;

// A link's name, which leads to the link in the drawing of the fabric if it is drawn.
const linkOf = (link) => {
  const at = page.why.links[link] ?? -1;
  if (at < 0) return make("span", {}, link);
  const button = make("button", { type: "button", class: "plain", title: "Show this link in the fabric" }, link);
  button.addEventListener("click", () => {
    change({ link: at });
    element("fabric").scrollIntoView();
    element("fabric-title").focus();
  });
  return button;
};

const whyBar = (causes) => make("span", { class: "why-bar", role: "img", "aria-label": causes.map(causeName).join(", "), title: causes.map(causeName).join("\n") },
  ...causes.map((one) => make("i", { style: causeStyle(one) })));
const toTimeLine = (row, text) => {
  const button = make("button", { type: "button", class: "plain", "aria-label": `Time line of flow ${row.flow}, seed ${row.seed}` }, text);
  button.addEventListener("click", () => change({ flow: `${row.run}/${row.flow}` }));
  return button;
};

// The largest cause in words: the link to blame is the first cause's or, if that has none, the first one named.
const whyCell = (row) => {
  const causes = whyOf(row);
  if (!causes?.length) return page.why.command ? toTimeLine(row, "show why") : make("span", { title: page.why.note }, MISSING);
  const [[cause, link, share, note]] = causes, blamed = link ? null : causes.find(([, other]) => other);
  const words = make("span", { class: "why-text" }, `${cause} `, ...(link ? [linkOf(link), " "] : []), ...(note ? [`(${note}) `] : []), quantity("share", share),
    ...(blamed ? [", ", linkOf(blamed[1]), " ", quantity("share", blamed[2])] : []), " · ", toTimeLine(row, "time line"));
  return make("div", { class: "why" }, whyBar(causes), words);
};

const whyList = (causes) => make("table", { class: "props why-list" }, make("tbody", {}, ...causes.map((one) => make("tr", {},
  make("th", { scope: "row" }, make("i", { style: causeStyle(one) }), one[0]), make("td", {}, ...(one[1] ? [linkOf(one[1])] : []), ...(one[3] ? [` ${one[3]}`] : [])),
  make("td", { class: "n" }, quantity("share", one[2]))))));

// What the panel of a flow has on its causes and its time line; empty if the run cannot be simulated again.
const whyPanel = (row) => {
  const causes = whyOf(row);
  if (!page.why.command) return [];
  const name = `why-${row.run}-${row.flow}.html`, sets = page.trails.sets[`${state.point},${state.scheme}`];
  const options = [`--flow ${row.flow}`, `--seed ${row.seed}`, ...(sets ? [sets] : []), ...(page.why.named ? ["--scenario SCENARIO"] : [])];
  const command = `${page.why.command} ${options.join(" ")} -o ${page.trails.folder}${name}`;
  const copy = make("button", { type: "button", class: "copy" }, "Copy command");
  copy.addEventListener("click", () => copyText(command, copy));
  const way = page.why.pages.includes(name) ? [make("p", {}, make("a", { href: name }, "Open the time line of this flow"))] : [
    make("p", { class: "caption" }, "This command gives the causes of the flow's time, and writes a page with its time line: packets, window and losses:"),
    make("pre", { tabindex: "0", "data-command": "why" }, command), copy,
    make("p", { class: "caption" }, `It writes ${name} next to this page; a report written after that links it.`
      + (page.why.named ? " SCENARIO is the scenario that was run; it names other files, so it must be the original." : "")),
  ];
  return [...(causes?.length ? [whyBar(causes), whyList(causes)] : []), ...way];
};
