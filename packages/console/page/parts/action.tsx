import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job } from "../../route.ts";
import { get, post, textOf } from "../api.ts";
import { useStage } from "../stage.ts";

type Result = Readonly<Record<string, unknown>>;

type ActionProps<T> = {
  readonly label: string;
  readonly path: string;
  readonly body?: object | undefined;
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
  readonly onDone?: (result: T) => void;
  /** The message on success. */
  readonly says?: (result: T) => string;
};

type State =
  | { readonly is: "idle" | "asking" | "busy" }
  | { readonly is: "running"; readonly job: Job<object> }
  | { readonly is: "done" | "failed"; readonly text: string };

const millisecondsBetweenLooks = 500;

/**
 * A button that changes something: it asks first where that can't be undone, and shows how far the work is.
 */
export function Action<T extends object = Result>(props: ActionProps<T>) {
  const { label, path, body, typed, warning, isMain, isLook } = props;
  const { isWritable } = useStage();
  const [state, setState] = useState<State>({ is: "idle" });
  const [word, setWord] = useState("");
  const isAllowed = isLook === true || isWritable;
  const finish = (result: T) => {
    const problem = "problem" in result && result.problem;
    if (typeof problem === "string") setState({ is: "failed", text: problem });
    else setState({ is: "done", text: props.says?.(result) ?? "Done." });
    props.onRunning?.(false);
    props.onDone?.(result);
  };
  const fail = (error: unknown) => {
    props.onRunning?.(false);
    setState({ is: "failed", text: textOf(error) });
  };
  const run = async () => {
    setState({ is: "busy" });
    try {
      const answer = await post<T | Job<T>>(path, { ...body, ...(typed && { typed: word }) });
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
        const job = await get<Job<T>>(`/api/job?id=${state.job.id}`);
        if (job.state === "running") setState({ is: "running", job });
        else if (job.result !== undefined) finish(job.result);
        else fail(job.error);
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
          (state.job.results.length > 0
            ? `${state.job.results.length} so far; continues when this page is closed.`
            : (state.job.progress ?? "Started; continues when this page is closed."))}
        {(state.is === "done" || state.is === "failed") && state.text}
      </p>
    </div>
  );
}

function isJob<T extends object>(value: T | Job<T>): value is Job<T> {
  return "startedAt" in value && "state" in value;
}
