import { signal } from "@preact/signals";

/** The page's address. It contains no secret, so it can be shared. */
export const place = signal({ path: location.pathname, search: location.search });

addEventListener("popstate", () => {
  place.value = { path: location.pathname, search: location.search };
});

export function go(to: string): void {
  history.pushState(undefined, "", to);
  place.value = { path: location.pathname, search: location.search };
  scrollTo(0, 0);
}

/** Sets parameters of the address without a new history entry, because a filter is not a new page. */
export function setSearch(words: Readonly<Record<string, string>>): void {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(words)) {
    if (value === "") search.delete(name);
    else search.set(name, value);
  }
  const text = search.toString();
  history.replaceState(undefined, "", text === "" ? location.pathname : `${location.pathname}?${text}`);
  place.value = { path: location.pathname, search: location.search };
}

export function searchWord(name: string): string {
  return new URLSearchParams(place.value.search).get(name) ?? "";
}

/** Follows a link within the page, unless a new tab is requested. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.origin !== location.origin || link.target !== "") return;
  event.preventDefault();
  go(`${link.pathname}${link.search}`);
}
