// Shows a course: lanes on one axis of time, zoom, tooltips, and the table of causes.
const rowsOf = (table) => table.sent.map((_, at) => Object.fromEntries(Object.keys(table).map((name) => [name, table[name][at]])));
const courses = (await inflate("courses")).map((one) => ({ ...one, packets: rowsOf(one.packets), subflow: "" }));
const room = element("lanes"), tip = element("tip");
const cursor = make("div", { id: "cursor", hidden: "" }), selection = make("div", { id: "selection", hidden: "" });
let course = courses[0], lanes = [], canvases = [];
const view = { from: 0, to: 1, width: 0 };
const inner = () => view.width - LEFT - RIGHT;
view.x = (time) => LEFT + ((time - view.from) / (view.to - view.from)) * inner();
view.time = (x) => view.from + ((x - LEFT) / inner()) * (view.to - view.from);

// The axis of time below the last lane.
const drawAxis = (ink, top) => {
  const { values, step } = ticks(view.from, view.to, Math.max(1, inner() / 120));
  ink.fillStyle = colour("var(--soft)");
  ink.strokeStyle = colour("var(--edge)");
  ink.textBaseline = "top";
  timeLabels(values, step, view.to).forEach((text, at) => {
    const x = view.x(values[at]), half = ink.measureText(text).width / 2;
    ink.beginPath();
    ink.moveTo(x, top);
    ink.lineTo(x, top + 4);
    ink.stroke();
    ink.textAlign = "left";
    ink.fillText(text, Math.max(0, Math.min(x - half, view.width - 2 * half)), top + 6);
  });
};

const draw = () => {
  view.width = room.clientWidth;
  lanes.forEach((lane, at) => {
    const last = at === lanes.length - 1;
    const ink = prepared(canvases[at], view.width, lane.height + (last ? 24 : 0));
    lane.draw(ink, view, course);
    if (last) drawAxis(ink, lane.height);
  });
  const whole = view.from <= 0 && view.to >= course.end;
  for (const id of ["wider", "whole"]) element(id).disabled = whole;
  room.dataset.from = view.from;
  room.dataset.to = view.to;
};

// Never less than a nanosecond, nor more than the flow.
const show = (from, to) => {
  const length = Math.min(Math.max(to - from, 1000), course.end);
  view.from = Math.min(Math.max(from, 0), course.end - length);
  view.to = view.from + length;
  draw();
};
const zoom = (factor, around = (view.from + view.to) / 2) => show(around - (around - view.from) * factor, around + (view.to - around) * factor);
const whole = () => show(0, course.end);
const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

const choose = (at) => {
  course = courses[at];
  lanes = lanesOf(course);
  canvases = lanes.map(() => make("canvas"));
  room.replaceChildren(...lanes.flatMap((lane, i) => [make("h3", {}, lane.title(course)), canvases[i], ...(lane.legend?.(course) ?? [])]), cursor, selection);
  document.querySelectorAll("[data-course]").forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
  element("of-subflow").hidden = course.subflows.length < 2;
  const options = [["", "all"], ...course.subflows.map((number) => [String(number), String(number)])];
  element("subflow").replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  element("subflow").value = course.subflow;
  const drawn = new Set([...course.packets.map((one) => markOf(one.kind)), ...["window", "flight"].filter((name) => course[name][0].length)]);
  document.querySelectorAll("#legend span").forEach((one) => { one.hidden = !drawn.has(one.dataset.kind); });
  const head = ["Cause", "Link", "Time", "Share"].map((text, i) => make("th", { scope: "col", class: i > 1 ? "n" : "" }, text));
  const rows = course.sums.map(([cause, lost, place, ps]) => make("tr", {},
    make("td", {}, make("i", { style: `--mark: ${causeColour(cause)}` }), causeName(cause, lost)), make("td", {}, place || MISSING),
    make("td", { class: "n" }, seconds(ps)), make("td", { class: "n" }, quantity("share", ps / course.end))));
  element("sums").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  whole();
};

// The pointer: a cursor over all lanes, a tooltip of the lane below it, and a drag that zooms.
let start = null;
const across = (event) => Math.min(Math.max(event.clientX - room.getBoundingClientRect().left, LEFT), view.width - RIGHT);
const tell = (event) => {
  const at = canvases.indexOf(event.target);
  const text = at < 0 || start !== null ? null : lanes[at].at(view, course, across(event), event.offsetY);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(12, Math.min(event.clientX + 14, innerWidth - box.width - 12))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
};
room.addEventListener("pointermove", (event) => {
  const x = across(event);
  cursor.hidden = false;
  cursor.style.left = `${x}px`;
  if (start !== null) {
    selection.hidden = Math.abs(x - start) < 4;
    selection.style.left = `${Math.min(x, start)}px`;
    selection.style.width = `${Math.abs(x - start)}px`;
  }
  tell(event);
});
room.addEventListener("pointerdown", (event) => {
  if (event.button === 0 && event.pointerType !== "touch") {
    start = across(event);
    room.setPointerCapture(event.pointerId);
  }
});
room.addEventListener("pointerup", (event) => {
  if (start === null) return;
  const ends = [start, across(event)].sort((a, b) => a - b);
  start = null;
  selection.hidden = true;
  if (ends[1] - ends[0] >= 4) show(view.time(ends[0]), view.time(ends[1]));
});
room.addEventListener("pointercancel", () => { start = null; selection.hidden = true; });
room.addEventListener("pointerleave", () => { cursor.hidden = tip.hidden = true; });
room.addEventListener("dblclick", whole);
const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), 0: whole };
room.addEventListener("keydown", (event) => {
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
});
element("closer").addEventListener("click", () => zoom(0.5));
element("wider").addEventListener("click", () => zoom(2));
element("whole").addEventListener("click", whole);
element("subflow").addEventListener("change", (event) => { course.subflow = event.target.value; draw(); });
document.querySelectorAll("[data-course]").forEach((button) => button.addEventListener("click", () => choose(Number(button.dataset.course))));

const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme === "dark" || (root.dataset.theme === "auto" && dark.matches);
const recolour = () => {
  element("theme").setAttribute("aria-pressed", String(isDark()));
  forgetColours();
  draw();
};
element("theme").addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; recolour(); });
dark.addEventListener("change", recolour);
addEventListener("resize", draw);

choose(0);
recolour();
root.dataset.ready = "yes";
