// The reader's own texts for schemes, classes and titles of axes: in charts, tables, diagrams, the legend, and saved files.
const labelOf = (name) => (Object.hasOwn(state.labels, name) ? state.labels[name] : name);
// A label in the room for so many letters.
const shortened = (text, longest = Infinity) => (text.length <= longest ? text : text.slice(0, longest - 1) + "…");
// Columns of data whose values are names.
const LABELLED = ["scheme", "class"];
// A specification with its data and the reader's labels.
const relabelled = (spec) => {
  if (!Object.keys(state.labels).length) return spec;
  const changed = (part, key) => {
    if (Array.isArray(part)) return part.map((one) => (typeof one === "string" && ["domain", "sort"].includes(key) ? labelOf(one) : changed(one, key)));
    if (part === null || typeof part !== "object") return key === "title" && typeof part === "string" ? labelOf(part) : part;
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, changed(one, name)]));
  };
  const { datasets, ...rest } = spec;
  const named = (row) => ({ ...row, ...Object.fromEntries([...LABELLED, "faster"].filter((name) => typeof row[name] === "string").map((name) => [name, labelOf(row[name])])) });
  return { ...changed(rest, ""), datasets: Object.fromEntries(Object.entries(datasets).map(([name, rows]) => [name, rows.map(named)])) };
};
