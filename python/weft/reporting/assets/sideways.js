// Above each box with a table that is wider than the box: a hint to scroll.
for (const box of document.querySelectorAll(".scroll")) {
  const hint = document.createElement("p");
  hint.className = "caption";
  hint.dataset.hint = "sideways";
  hint.textContent = "The table is wider than the window: scroll it sideways.";
  box.before(hint);
  const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
  new ResizeObserver(look).observe(box);
  new MutationObserver(look).observe(box, { childList: true, subtree: true });
  look();
}
