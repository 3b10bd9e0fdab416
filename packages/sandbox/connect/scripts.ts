/** Narrows the list while the end user types; without it the search button does. */
export const filterScript = `
const query = document.getElementById("query");
const count = document.getElementById("count");
query.addEventListener("input", () => {
  const text = query.value.trim().toLowerCase();
  let shown = 0;
  for (const item of document.querySelectorAll("[data-name]")) {
    item.hidden = !item.dataset.name.includes(text);
    if (!item.hidden) shown += 1;
  }
  for (const group of document.querySelectorAll("[data-group]")) {
    group.hidden = group.querySelector("[data-name]:not([hidden])") === null;
  }
  if (shown === 0) count.textContent = "No platform has this name. Try fewer letters.";
  else count.textContent = shown === 1 ? "1 platform" : shown + " platforms";
});
`;

/** Shows the progress as it happens; without it the end user looks again. */
export const progressScript = `
const progress = document.getElementById("progress");
async function look() {
  const response = await fetch(location.pathname + "/progress");
  if (!response.ok) return location.reload();
  const { status, title, markup } = await response.json();
  if (status !== progress.dataset.status) {
    progress.dataset.status = status;
    progress.innerHTML = markup;
    document.title = title;
  }
  if (status === "signing-in") setTimeout(look, 300);
}
if (progress.dataset.status === "signing-in") setTimeout(look, 300);
`;
