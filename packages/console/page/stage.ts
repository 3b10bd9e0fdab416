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
