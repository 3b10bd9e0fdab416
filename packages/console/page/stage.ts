import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export type Stage = {
  readonly stage: string;
  readonly region: string;
  readonly isLocal: boolean;
  readonly isWritable: boolean;
  readonly connectFlow?: string;
  readonly subscribers: readonly { readonly name: string; readonly types?: readonly string[] }[];
  readonly paceInSeconds: Readonly<Record<"queues" | "alarms" | "registrations" | "doctor", number>>;
  readonly dollarsPerHour: number;
};

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
