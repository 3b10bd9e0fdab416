import { signal } from "@preact/signals";

/** The page's address. It contains no secret, so it can be shared. */
export const place = signal({ path: location.pathname, search: location.search });

addEventListener("popstate", () => {
  place.value = { path: location.pathname, search: location.search };
});

/** Parameters of an address; empty ones are left out. */
export type Params = Readonly<Record<string, string | boolean | undefined | readonly string[]>>;

/** An address of the page or of its API. */
export function address(path: string, params: Params): string {
  const words = Object.entries(params).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, value === true ? "yes" : value || ""]),
  );
  const query = new URLSearchParams(words.filter(([, value]) => value !== "")).toString();
  return query === "" ? path : `${path}?${query}`;
}

export function go(to: string): void {
  history.pushState(undefined, "", to);
  place.value = { path: location.pathname, search: location.search };
  scrollTo(0, 0);
}

/** Sets parameters of the address without a new history entry, because a filter is not a new page. */
export function setSearch(words: Readonly<Record<string, string>>): void {
  history.replaceState(undefined, "", address(location.pathname, { ...searchWords(), ...words }));
  place.value = { path: location.pathname, search: location.search };
}

export function searchWords(): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(place.value.search));
}

export function searchWord(name: string): string {
  return searchWords()[name] ?? "";
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
