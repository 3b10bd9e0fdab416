import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job } from "../../route.ts";
import { get, post } from "../api.ts";
import { useStage } from "../stage.ts";

type ActionProps = {
  readonly label: string;
  readonly path: string;
  readonly body?: object;
  /** The text to type before an action that can't be undone. */
  readonly typed?: string;
  /** The consequence, shown before the user confirms. */
  readonly warning?: ComponentChildren;
  readonly isMain?: boolean;
  /** Whether it needs no `--write`: a look that is logged. */
  readonly isLook?: boolean;
  /** Whether there is nothing to do it to. */
  readonly isOff?: boolean;
  /** Is called when its work begins, and when that has ended. */
  readonly onRunning?: (isRunning: boolean) => void;
  readonly onDone?: (result: Readonly<Record<string, unknown>>) => void;
  /** The message on success; by default the command's output. */
  readonly says?: (result: Readonly<Record<string, unknown>>) => string;
};

type State =
  | { readonly is: "idle" | "asking" | "busy" }
  | { readonly is: "running"; readonly job: Job }
  | { readonly is: "done" | "failed"; readonly text: string };

const millisecondsBetweenLooks = 500;

/**
 * A button that changes something: it asks first where that can't be undone, and shows how far the work is.
 */
export function Action(props: ActionProps) {
  const { label, path, body = {}, typed, warning, isMain, isLook, onDone } = props;
  const { isWritable } = useStage();
  const [state, setState] = useState<State>({ is: "idle" });
  const [word, setWord] = useState("");
  const isAllowed = isLook === true || isWritable;
  const finish = (result: Readonly<Record<string, unknown>>) => {
    const problem = result.problem;
    if (typeof problem === "string") setState({ is: "failed", text: problem });
    else setState({ is: "done", text: props.says?.(result) ?? "Done." });
    props.onRunning?.(false);
    onDone?.(result);
  };
  const fail = (error: unknown) => {
    props.onRunning?.(false);
    setState({ is: "failed", text: error instanceof Error ? error.message : String(error) });
  };
  const run = async () => {
    setState({ is: "busy" });
    try {
      const answer = await post<Readonly<Record<string, unknown>>>(path, {
        ...body,
        ...(typed && { typed: word }),
      });
      if (isJob(answer)) {
        props.onRunning?.(true);
        setState({ is: "running", job: answer });
      } else finish(answer);
    } catch (error) {
      fail(error);
    }
    setWord("");
  };
  useEffect(() => {
    if (state.is !== "running") return undefined;
    const timer = setTimeout(async () => {
      try {
        const job = await get<Job>(`/api/job?id=${state.job.id}`);
        if (job.state === "running") setState({ is: "running", job });
        else if (job.state === "done") finish(job.result ?? {});
        else fail(new Error(job.error));
      } catch (error) {
        fail(error);
      }
    }, millisecondsBetweenLooks);
    return () => clearTimeout(timer);
  });
  const isBusy = state.is === "busy" || state.is === "running";
  return (
    <div class="action">
      {state.is === "asking" ? (
        <form
          class="confirm"
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
        >
          {warning}
          <label>
            Type <b>{typed}</b> to confirm{" "}
            <input
              value={word}
              onInput={({ currentTarget }) => setWord(currentTarget.value)}
              autocomplete="off"
            />
          </label>
          <button type="submit" class="danger" disabled={word !== typed}>
            {label}
          </button>{" "}
          <button type="button" onClick={() => setState({ is: "idle" })}>
            Cancel
          </button>
        </form>
      ) : (
        <button
          type="button"
          class={typed === undefined ? (isMain === true ? "main" : "") : "danger"}
          disabled={!isAllowed || isBusy || props.isOff === true}
          title={isAllowed ? undefined : "The console is read-only: start it with --write"}
          onClick={() => (typed === undefined ? run() : setState({ is: "asking" }))}
        >
          {label}
        </button>
      )}
      <p role="status" class={state.is === "failed" ? "problem" : "quiet"}>
        {state.is === "busy" && "Working…"}
        {state.is === "running" &&
          (state.job.count > 0
            ? `${state.job.count} so far; continues when this page is closed.`
            : (state.job.progress.at(-1) ?? "Started; continues when this page is closed."))}
        {(state.is === "done" || state.is === "failed") && state.text}
      </p>
    </div>
  );
}

function isJob(value: object): value is Job {
  return "progress" in value && "state" in value;
}
