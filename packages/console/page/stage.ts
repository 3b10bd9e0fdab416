import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What does not change while the console runs. */
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
