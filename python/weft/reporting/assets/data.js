// The page's data. Large parts are compressed and read when they are first shown.
const element = (id) => document.getElementById(id);
const read = (id) => JSON.parse(element(id).textContent);
const page = read("page-data");
const unpacked = new Map();

const inflate = async (id) => {
  const block = element(id);
  if (!block) return null;
  const bytes = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};

const unpack = (id) => {
  if (!unpacked.has(id)) unpacked.set(id, inflate(id));
  return unpacked.get(id);
};

// The part of a kind (use, series, flows) at a point; null if it was left out or there is none.
const part = (kind, point) => unpack(`${kind}-${point}`);

// The rows of a table of columns that pass a test of the places of point, scheme and class.
const rowsOf = (table, test = () => true) => {
  if (!table) return [];
  const names = Object.keys(table), found = [];
  for (let i = 0; i < table[names[0]].length; i += 1) {
    const row = {};
    for (const name of names) row[name] = table[name][i];
    if (test(row)) found.push(row);
  }
  return found;
};

const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

const schemeName = (at) => page.schemes[at].name;

// Speaks to readers who cannot see the change.
const say = (text) => { element("said").textContent = text; };
