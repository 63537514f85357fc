// Drawing on canvases: colours of the style sheet, scales and axes.
const element = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const inflate = async (id) => {
  const bytes = Uint8Array.from(atob(element(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};
const CAUSES = JSON.parse(element("causes").textContent);
const causeColour = (cause) => `var(--cause-${CAUSES.indexOf(cause)})`;
const causeName = (cause, lost) => (lost ? `${cause}, ${lost} lost` : cause);

// The colour that a property has in the present theme.
const probe = document.body.appendChild(make("span", { hidden: "" }));
const found = new Map();
const colour = (text) => {
  if (!found.has(text)) {
    probe.style.color = text;
    found.set(text, getComputedStyle(probe).color);
  }
  return found.get(text);
};
const forgetColours = () => found.clear();

const PS = 1e-12;
const seconds = (ps) => quantity("s", ps * PS);
// The room left of the lanes for their scales.
const LEFT = 62, RIGHT = 12;

// At most `count` round values between two.
const ticks = (from, to, count) => {
  const raw = (to - from) / Math.max(count, 1) || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const values = [];
  for (let at = Math.ceil(from / step); at * step <= to * (1 + 1e-12); at += 1) values.push(at * step);
  return { values, step };
};

// Labels of times: all in one unit, as exact as their steps need.
const timeLabels = (values, step, most) => {
  const [factor, unit] = UNITS.s.find(([size]) => most * PS >= size * 0.9995) ?? UNITS.s[UNITS.s.length - 1];
  const decimals = Math.max(0, Math.ceil(-Math.log10((step * PS) / factor) - 1e-9));
  const shown = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return values.map((value) => `${((value * PS) / factor).toLocaleString("en", shown)} ${unit}`);
};

// A canvas of a lane with sharp pixels, and its context; sizes are those of the page.
const prepared = (canvas, width, height) => {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const ink = canvas.getContext("2d");
  ink.setTransform(scale, 0, 0, scale, 0, 0);
  ink.font = "12px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  return ink;
};
