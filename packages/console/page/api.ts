import { useEffect, useState } from "preact/hooks";

/** An answer that says why there is none. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function get<T>(path: string): Promise<T> {
  return answerOf(await reached(fetch(path)));
}

export async function post<T>(path: string, body: object = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  return answerOf(await reached(fetch(path, { method: "POST", headers, body: JSON.stringify(body) })));
}

async function reached(answer: Promise<Response>): Promise<Response> {
  try {
    return await answer;
  } catch {
    throw new ApiError(0, "The console does not answer any more. Start it again: npx income-events console");
  }
}

/** The console's own server answers, which is built with this page: its types are taken as they are. */
async function answerOf<T>(response: Response): Promise<T> {
  const value = losslessly(await response.text());
  if (response.ok && isAnswer<T>(value)) return value;
  const { error = response.statusText } = isAnswer<{ readonly error?: unknown }>(value) ? value : {};
  throw new ApiError(response.status, String(error));
}

function isAnswer<T>(value: unknown): value is T {
  return typeof value === "object" && value !== null;
}

/** A number that no double holds, or that is written otherwise, keeps its digits and is printed as it came. */
function losslessly(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, { source }) => {
    if (typeof value !== "number" || source === undefined || String(value) === source) return value;
    return JSON.rawJSON(source);
  });
}

export type Loaded<T> = {
  readonly data?: T;
  /** What was last known stays beside it. */
  readonly error?: string;
  readonly reload: () => void;
};

type Known<T> = Pick<Loaded<T>, "data" | "error"> & { readonly of: string | undefined };

/**
 * What an address answers, asked for again every `seconds` while the page is seen; 0: once.
 * @param path undefined: nothing is asked for
 */
export function useLoaded<T>(path: string | undefined, seconds = 0): Loaded<T> {
  const [state, setState] = useState<Known<T>>({ of: path });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    let timer: number | undefined;
    const load = async () => {
      clearTimeout(timer);
      if (path === undefined) return;
      if (!document.hidden) {
        try {
          const data = await get<T>(path);
          if (!isOver) setState({ of: path, data });
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          if (!isOver)
            setState((known) => ({ ...(known.of === path ? known : { of: path }), error: message }));
        }
      }
      if (!isOver && seconds > 0) timer = window.setTimeout(load, seconds * 1000);
    };
    // Whoever comes back to the page sees what is so now.
    const onShown = () => {
      if (!document.hidden && seconds > 0) void load();
    };
    void load();
    document.addEventListener("visibilitychange", onShown);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onShown);
    };
  }, [path, seconds, round]);
  // What another address has answered is not shown for this one's.
  const { data, error } = state.of === path ? state : {};
  return {
    ...(data !== undefined && { data }),
    ...(error !== undefined && { error }),
    reload: () => setRound((value) => value + 1),
  };
}
