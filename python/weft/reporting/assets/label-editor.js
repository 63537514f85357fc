// The fields for the reader's labels, and the labels in the legend.
const titlesIn = (part) => (part === null || typeof part !== "object" ? [] : Object.entries(part).flatMap(([key, one]) =>
  [...(["x", "y"].includes(key) && typeof one?.title === "string" ? [one.title] : []), ...titlesIn(one)]));
const axisTitles = [...new Set(titlesIn(specs.figures))];
const editor = element("labels-panel"), fieldOf = new Map();
const LONGEST = 80;
const groupOf = (title, names) => make("fieldset", {}, make("legend", {}, title), ...names.map((name) => {
  const field = make("input", { type: "text", maxlength: LONGEST, placeholder: name });
  fieldOf.set(name, field);
  field.addEventListener("change", () => {
    const wanted = { ...state.labels, [name]: field.value.trim() }, kept = labelled(wanted);
    const refused = wanted[name] && wanted[name] !== name && kept[name] === undefined;
    field.setCustomValidity(refused ? "Another scheme has this label: give each its own." : "");
    if (refused) field.reportValidity();
    else change({ labels: kept });
  });
  return make("label", {}, make("span", {}, name), field);
}));
editor.append(...[["Schemes", page.schemes.map(({ name }) => name)], ["Classes", page.classes], ["Titles of axes", axisTitles]]
  .filter(([, names]) => names.length).map(([title, names]) => groupOf(title, names)));
const openEditor = (open) => {
  editor.hidden = !open;
  element("labels").setAttribute("aria-expanded", String(open));
  if (open) editor.querySelector("input").focus();
};
element("labels").addEventListener("click", () => openEditor(editor.hidden));
editor.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  openEditor(false);
  element("labels").focus();
});
onChange((keys) => {
  if (!keys.includes("labels")) return;
  for (const [name, field] of fieldOf) {
    field.value = state.labels[name] ?? "";
    field.setCustomValidity("");
  }
  for (const one of document.querySelectorAll("[data-name]")) one.textContent = shortened(labelOf(one.dataset.name), Number(one.dataset.longest ?? Infinity));
  for (const title of document.querySelectorAll(".ranks title")) title.textContent = labelOf(title.parentNode.querySelector("[data-name]").dataset.name);
  for (const button of document.querySelectorAll(".legend button")) button.querySelector("span").textContent = labelOf(button.value);
  for (const button of document.querySelectorAll(".chips button")) button.textContent = labelOf(button.value);
});
