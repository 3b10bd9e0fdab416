import { useEffect, useState } from "preact/hooks";

/**
 * The storage key of the session's token. Storage belongs to an origin including its port, so no other server
 * on this machine can read it. The token expires with the console's process.
 */
const sessionKey = "income-events-session";

/** Exchanges the one-time token of the address, if it has one, for the session's token. */
export async function enter(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  history.replaceState(undefined, "", `${location.pathname}${location.search}`);
  try {
    const answer = await call("/api/session", { method: "POST", body: "{}" }, token);
    const { session } = await answerOf<{ readonly session: string }>(answer);
    localStorage.setItem(sessionKey, session);
  } catch {
    // The address was used before; an existing session of this browser still works.
  }
}

export async function get<T>(path: string): Promise<T> {
  return answerOf(await call(path));
}

export async function post<T>(path: string, body: object = {}): Promise<T> {
  return answerOf(await call(path, { method: "POST", body: JSON.stringify(body) }));
}

/** Reads the session's token for each call, because another tab may have a new one. */
async function call(
  path: string,
  init: RequestInit = {},
  token: string | null = localStorage.getItem(sessionKey),
): Promise<Response> {
  try {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token ?? ""}` };
    return await fetch(path, { ...init, headers });
  } catch {
    throw new Error("The console has ended. Start it again: npx income-events console");
  }
}

/** The server is built together with this page, so its types are trusted. */
async function answerOf<T>(response: Response): Promise<T> {
  const value = losslessly(await response.text());
  if (response.ok && isAnswer<T>(value)) return value;
  const { error = response.statusText } = isAnswer<{ readonly error?: unknown }>(value) ? value : {};
  throw new Error(String(error), { cause: response.status });
}

function isAnswer<T>(value: unknown): value is T {
  return typeof value === "object" && value !== null;
}

/** Keeps the digits of numbers that JavaScript can't represent exactly. */
function losslessly(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, { source }) => {
    if (typeof value !== "number" || source === undefined || String(value) === source) return value;
    return JSON.rawJSON(source);
  });
}

export type Loaded<T> = {
  readonly data: T | undefined;
  /** The last answer is shown beside it. */
  readonly error: string | undefined;
  readonly reload: () => void;
};

type Known<T> = { readonly of: string | undefined; readonly data?: T; readonly error?: string };

/**
 * Loads an address, and reloads it every `seconds` while the page is visible; 0 loads it once.
 * @param path if undefined, nothing is loaded
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
          if (!isOver)
            setState((known) => ({ ...(known.of === path ? known : { of: path }), error: textOf(error) }));
        }
      }
      if (!isOver && seconds > 0) timer = window.setTimeout(load, seconds * 1000);
    };
    // The page shows current data when it becomes visible again.
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
  // The answer of another address is not shown for this one.
  const { data, error } = state.of === path ? state : {};
  return { data, error, reload: () => setRound((value) => value + 1) };
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
