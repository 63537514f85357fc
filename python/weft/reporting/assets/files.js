// Files that the page saves, and the clipboard.
const save = (name, type, text) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  say("Saved " + name);
};
const fileName = (ident, kind) => `${page.name}-${ident}`.replace(/[^\w.-]+/g, "-") + "." + kind;

const cellOf = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (columns, rows) => [columns, ...rows].map((row) => row.map(cellOf).join(",")).join("\n") + "\n";

// A drawing with its own styles: outside of the page there is no style sheet.
const KEPT_STYLES = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "font-size",
  "font-family", "text-anchor"];
const standalone = (svg) => {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((one) => one.querySelectorAll("line, rect, circle, text, path"));
  from.forEach((one, i) => {
    const style = getComputedStyle(one);
    to[i].setAttribute("style", KEPT_STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.querySelector("style")?.remove();
  return new XMLSerializer().serializeToString(copy);
};

const copyText = async (text, button) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => { button.textContent = label; }, 1500);
};
