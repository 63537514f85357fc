// The list of contents, which follows the reader, and links to sections.
const sectionMarks = [...document.querySelectorAll("main > section")];
const titleOf = (section) => section.querySelector("h2").textContent;
const contents = element("contents"), contentsToggle = element("contents-toggle");
const linkTo = (section) => `#${fragment({ at: section.id })}`;

const goTo = (section) => {
  element(`${section.id}-title`).focus({ preventScroll: true });
  section.scrollIntoView();
};
const openContents = (open) => {
  contents.dataset.open = open ? "yes" : "no";
  contentsToggle.setAttribute("aria-expanded", String(open));
};
const contentsLinks = sectionMarks.map((section) => {
  const link = make("a", { href: linkTo(section) }, titleOf(section));
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openContents(false);
    goTo(section);
  });
  return link;
});
element("contents-list").append(...contentsLinks.map((link) => make("li", {}, link)));
contentsToggle.addEventListener("click", () => openContents(contents.dataset.open !== "yes"));
contents.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && contents.dataset.open === "yes") {
    openContents(false);
    contentsToggle.focus();
    return;
  }
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], at = contentsLinks.indexOf(document.activeElement);
  if (!by || at < 0) return;
  event.preventDefault();
  contentsLinks[Math.max(0, Math.min(contentsLinks.length - 1, at + by))].focus();
});
document.addEventListener("pointerdown", (event) => { if (!contents.contains(event.target)) openContents(false); });

// What stays at the top of the window, and so the height that a section must keep below it.
const bar = document.querySelector(".bar");
const isSticky = (one) => getComputedStyle(one).position === "sticky";
const measureTop = () => {
  const height = isSticky(bar) ? bar.offsetHeight : 0;
  root.style.setProperty("--bar", `${height}px`);
  root.style.setProperty("--top", `${height + (contents.offsetWidth > root.clientWidth / 2 ? contentsToggle.offsetHeight : 0)}px`);
};
new ResizeObserver(measureTop).observe(bar);
addEventListener("resize", measureTop);
measureTop();

const SLACK = 40;
const followReader = () => {
  const line = parseFloat(root.style.getPropertyValue("--top")) + SLACK;
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0;
  const current = atEnd ? sectionMarks.length - 1 : Math.max(0, sectionMarks.findLastIndex((one) => one.getBoundingClientRect().top <= line));
  contentsLinks.forEach((link, at) => {
    if (at === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
  element("contents-now").textContent = titleOf(sectionMarks[current]);
};
let followsSoon = false;
const followSoon = () => {
  if (followsSoon) return;
  followsSoon = true;
  requestAnimationFrame(() => {
    followsSoon = false;
    followReader();
  });
};
addEventListener("scroll", followSoon, { passive: true });
new ResizeObserver(followSoon).observe(element("main"));

// Beside each title: a link to the section with all choices.
for (const section of sectionMarks) {
  const title = section.querySelector("h2"), name = titleOf(section);
  const button = make("button", { type: "button", class: "anchor", title: "Copy a link to this section, with all choices", "aria-label": `Copy a link to ${name}` }, "Link");
  button.addEventListener("click", () => copyText(location.href.split("#")[0] + linkTo(section), button));
  title.after(button);
}
onChange(() => contentsLinks.forEach((link, at) => { link.href = linkTo(sectionMarks[at]); }));

// The section that the address names.
const goToNamed = () => {
  const named = sectionMarks.find((section) => section.id === new URLSearchParams(location.hash.slice(1)).get("at"));
  if (named) goTo(named);
};
addEventListener("hashchange", goToNamed);
