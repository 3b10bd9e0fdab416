import { signal } from "@preact/signals";

const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
const key = "income-events-theme";

export const theme = signal<Theme>(themes.find((each) => each === localStorage.getItem(key)) ?? "auto");
apply();

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "auto";
  localStorage.setItem(key, theme.value);
  apply();
}

function apply(): void {
  document.documentElement.dataset.theme = theme.value;
}
