import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { stageOf } from "../api/overview.ts";

export type Stage = ReturnType<typeof stageOf>;

export const StageContext = createContext<Stage | undefined>(undefined);

export function useStage(): Stage {
  const stage = useContext(StageContext);
  if (stage === undefined) throw new Error("a view stands outside of the stage");
  return stage;
}

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];
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
