// Light and dark: colours of the style sheet, read for the charts.
const root = document.documentElement;
const media = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme === "dark" || (root.dataset.theme === "auto" && media.matches);
const probe = document.body.appendChild(make("i", { hidden: "" }));
const colour = (name) => {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
};
const schemeColour = (at) => page.schemes[at][isDark() ? "dark" : "color"];

const KEPT = "weft-theme";
try {
  const kept = localStorage.getItem(KEPT);
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
} catch { /* The page may not store anything: it follows the system. */ }

const showTheme = () => {
  element("theme").setAttribute("aria-pressed", String(isDark()));
  notify(["theme"]);
};
element("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem(KEPT, root.dataset.theme); } catch { /* as above */ }
  showTheme();
  say(isDark() ? "Dark colours" : "Light colours");
});
media.addEventListener("change", showTheme);
element("theme").setAttribute("aria-pressed", String(isDark()));
